-- What a person does in Neovim, without the person: rename two calls, look at the hints, choose the action.
-- The files and the server's command come from the environment; what was seen goes to a file as JSON.

local seen = {}
local folder = vim.env.EDITVEC_TEST_FOLDER
local file = folder .. "/tests/test_orders.py"

local function wait(what, holds)
  seen[what] = vim.wait(tonumber(vim.env.EDITVEC_TEST_SECONDS) * 1000, holds, 20)
end

local function hints()
  local lines = {}
  for _, each in ipairs(vim.diagnostic.get(0)) do
    table.insert(lines, each.lnum + 1)
  end
  table.sort(lines)
  return lines
end

local function actions(kind)
  local params = vim.lsp.util.make_range_params(0, "utf-16")
  params.context = { diagnostics = {} }
  local answers = vim.lsp.buf_request_sync(0, "textDocument/codeAction", params, 20000) or {}
  local found = {}
  for _, answer in pairs(answers) do
    for _, action in ipairs(answer.result or {}) do
      if action.kind == kind then
        table.insert(found, action)
      end
    end
  end
  return found
end

vim.cmd("edit " .. vim.fn.fnameescape(file))
local client = vim.lsp.start_client({
  name = "editvec",
  cmd = { vim.env.EDITVEC_TEST_PYTHON, "-m", "editvec", "lsp" },
  root_dir = folder,
  workspace_folders = { { uri = vim.uri_from_fname(folder), name = "project" } },
  init_options = { settings = { idleSeconds = 0.1 } },
})
vim.lsp.buf_attach_client(0, client)
wait("attached", function()
  local started = vim.lsp.get_client_by_id(client)
  return started ~= nil and started.initialized
end)
seen.encoding = vim.lsp.get_client_by_id(client).offset_encoding

-- The second line holds characters outside the basic plane before the call.
for _, line in ipairs({ 3, 7 }) do
  local text = vim.fn.getline(line)
  vim.fn.setline(line, (text:gsub("assertEquals", "assertEqual")))
  vim.wait(300)
end
wait("hinted", function() return #hints() == 4 end)
seen.hints = hints()
seen.screen = vim.diagnostic.get(0)[1] and vim.diagnostic.get(0)[1].message

vim.api.nvim_win_set_cursor(0, { 7, 0 })
local found
wait("offered", function()
  found = actions("refactor.rewrite")
  return #found > 0
end)
if found[1] then
  seen.title = found[1].title
  local answers = vim.lsp.buf_request_sync(0, "codeAction/resolve", found[1], 20000) or {}
  for _, answer in pairs(answers) do
    vim.lsp.util.apply_workspace_edit(answer.result.edit, vim.lsp.get_client_by_id(client).offset_encoding)
  end
end
wait("cleared", function() return #hints() == 0 end)
seen.text = table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), "\n") .. "\n"

-- One step of undo takes back all of it, and nothing is offered for it.
vim.cmd("silent undo")
vim.wait(400)
seen.undone = hints()

local out = io.open(vim.env.EDITVEC_TEST_OUT, "w")
out:write(vim.json and vim.json.encode(seen) or vim.fn.json_encode(seen))
out:close()
vim.cmd("qall!")
