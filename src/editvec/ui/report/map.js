"use strict";
// A map of edits. Points are drawn with WebGL, or on a plain canvas if there is no WebGL.
// The text of edits is always inserted as text, never as HTML.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const byId = (name) => document.getElementById(name);
  const points = byId("points"), marks = byId("marks"), card = byId("card"), legend = byId("legend");
  const size = data.ids.length, x = Float32Array.from(data.x), y = Float32Array.from(data.y);
  const PALETTE = data.colours;
  const REST = "#9e9e9e", NONE = "#cfcfcf";
  byId("title").textContent = data.title;

  // --- the colour of each point, and whether it is dimmed
  let scheme = null, names = [], kinds = new Int32Array(size), hidden = new Set(), found = null;

  function choose(name) {
    scheme = data.schemes.find((each) => each.name === name);
    hidden = new Set();
    const counts = new Map();
    scheme.values.forEach((value) => counts.set(value, (counts.get(value) || 0) + 1));
    const ranked = scheme.names.map((label, at) => ({ label, at, count: counts.get(at) || 0 }))
      .filter((each) => each.count && each.label !== "")
      .sort((one, other) => other.count - one.count || one.label.localeCompare(other.label));
    names = ranked.slice(0, PALETTE.length).map((each, at) => ({ ...each, colour: PALETTE[at] }));
    const kindOf = new Map(names.map((each, at) => [each.at, at]));
    const rest = ranked.slice(PALETTE.length);
    if (rest.length) {
      const count = rest.reduce((sum, each) => sum + each.count, 0);
      rest.forEach((each) => kindOf.set(each.at, names.length));
      names.push({ label: `${rest.length} others`, count, colour: REST });
    }
    const empty = scheme.names.indexOf("");
    if (empty >= 0 && counts.get(empty)) {
      kindOf.set(empty, names.length);
      names.push({ label: scheme.none, count: counts.get(empty), colour: NONE });
    }
    for (let at = 0; at < size; at++) kinds[at] = kindOf.get(scheme.values[at]);
    drawLegend();
    paint();
  }

  function drawLegend() {
    legend.replaceChildren(...names.map((each, at) => {
      const row = document.createElement("li"), dot = document.createElement("i");
      const label = document.createElement("span"), count = document.createElement("small");
      dot.style.background = each.colour;
      label.textContent = each.label;
      label.title = each.label;
      count.textContent = each.count.toLocaleString("en");
      row.append(dot, label, count);
      row.classList.toggle("off", hidden.has(at));
      row.onclick = () => {
        // The first click shows only this name; further clicks add or remove names.
        if (!hidden.size) names.forEach((_, other) => other !== at && hidden.add(other));
        else if (hidden.has(at)) hidden.delete(at);
        else hidden.add(at);
        if (hidden.size === names.length) hidden.clear();
        drawLegend();
        paint();
      };
      return row;
    }));
  }

  const shown = (at) => !hidden.has(kinds[at]) && (found === null || found[at]);

  // --- the view: scale and centre
  let scale = 1, middleX = 0, middleY = 0, width = 1, height = 1, ratio = 1;
  // The whole map is beside the legend, not under it.
  const beside = () => (width > 700 ? legend.offsetWidth + 12 : 0);
  const centre = () => beside() + (width - beside()) / 2;
  const base = () => Math.min(width - beside(), height - 60) * 0.47;
  const toX = (at) => (x[at] - middleX) * base() * scale + centre();
  const toY = (at) => (middleY - y[at]) * base() * scale + height / 2 + 20;
  const radius = () => Math.min(9, Math.max(1.4, 2.4 * Math.sqrt(scale) * Math.min(1.5, Math.sqrt(4000 / size) + .25)));

  function resize() {
    ratio = Math.min(2, devicePixelRatio || 1);
    width = innerWidth;
    height = innerHeight;
    for (const each of [points, marks]) { each.width = width * ratio; each.height = height * ratio; }
    draw();
  }

  // --- drawing, with WebGL if available
  const gl = points.getContext("webgl", { antialias: true, preserveDrawingBuffer: true });
  let program = null, buffers = null;
  if (gl) {
    const compile = (kind, text) => {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, text);
      gl.compileShader(shader);
      return shader;
    };
    program = gl.createProgram();
    gl.attachShader(program, compile(gl.VERTEX_SHADER, `
      attribute vec2 place; attribute vec4 colour; uniform vec2 middle, factor, shift; uniform mediump float wide; varying vec4 shade;
      void main() { gl_Position = vec4((place - middle) * factor + shift, 0.0, 1.0); gl_PointSize = wide; shade = colour; }`));
    gl.attachShader(program, compile(gl.FRAGMENT_SHADER, `
      precision mediump float; varying vec4 shade; uniform mediump float wide;
      void main() {
        float far = length(gl_PointCoord - 0.5) * wide;
        float inside = clamp(wide * 0.5 - far, 0.0, 1.0) * shade.a;
        gl_FragColor = vec4(shade.rgb * inside, inside);
      }`));
    gl.linkProgram(program);
    gl.useProgram(program);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    buffers = { place: gl.createBuffer(), colour: gl.createBuffer() };
  }
  const byte = (colour, at) => parseInt(colour.slice(1 + 2 * at, 3 + 2 * at), 16);

  function paint() {
    let visible = 0;
    for (let at = 0; at < size; at++) visible += shown(at);
    byId("count").textContent = visible === size ? `${size.toLocaleString("en")} edits`
      : `${visible.toLocaleString("en")} of ${size.toLocaleString("en")}`;
    if (gl) {
      // Dimmed points are drawn first, below the others. Otherwise the order is random, so that no colour covers another.
      const order = Array.from({ length: size }, (_, at) => at).sort((one, other) =>
        shown(one) - shown(other) || data.chance[one] - data.chance[other]);
      const places = new Float32Array(2 * size), colours = new Uint8Array(4 * size);
      order.forEach((at, to) => {
        places[2 * to] = x[at];
        places[2 * to + 1] = y[at];
        const colour = shown(at) ? names[kinds[at]].colour : "#b0b0b0";
        for (let part = 0; part < 3; part++) colours[4 * to + part] = byte(colour, part);
        colours[4 * to + 3] = shown(at) ? 217 : 38;
      });
      for (const [name, values, parts, kind] of [["place", places, 2, gl.FLOAT], ["colour", colours, 4, gl.UNSIGNED_BYTE]]) {
        const where = gl.getAttribLocation(program, name);
        gl.bindBuffer(gl.ARRAY_BUFFER, buffers[name]);
        gl.bufferData(gl.ARRAY_BUFFER, values, gl.STATIC_DRAW);
        gl.enableVertexAttribArray(where);
        gl.vertexAttribPointer(where, parts, kind, kind === gl.UNSIGNED_BYTE, 0, 0);
      }
    }
    draw();
  }

  let waiting = false;
  function draw() {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => { waiting = false; (gl ? drawGl : drawPlain)(); drawMarks(); });
  }
  function drawGl() {
    gl.viewport(0, 0, points.width, points.height);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT);
    const uniform = (name) => gl.getUniformLocation(program, name);
    gl.uniform2f(uniform("middle"), middleX, middleY);
    gl.uniform2f(uniform("factor"), 2 * base() * scale / width, 2 * base() * scale / height);
    gl.uniform2f(uniform("shift"), 2 * centre() / width - 1, -40 / height);
    gl.uniform1f(uniform("wide"), 2 * radius() * ratio + 1);
    gl.drawArrays(gl.POINTS, 0, size);
  }
  function drawPlain() {
    const pen = points.getContext("2d"), wide = 2 * radius();
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, width, height);
    for (let at = 0; at < size; at++) {
      pen.globalAlpha = shown(at) ? .85 : .15;
      pen.fillStyle = names[kinds[at]].colour;
      pen.fillRect(toX(at) - wide / 2, toY(at) - wide / 2, wide, wide);
    }
  }
  function drawMarks() {
    const pen = marks.getContext("2d");
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, width, height);
    for (const at of [hovered, kept]) {
      if (at < 0) continue;
      pen.lineWidth = 2;
      pen.strokeStyle = getComputedStyle(document.body).color;
      pen.beginPath();
      pen.arc(toX(at), toY(at), radius() + 4, 0, 7);
      pen.stroke();
    }
  }

  // --- the point under the pointer, found in a grid of cells
  const CELLS = 128, grid = new Map();
  const cell = (value) => Math.floor((value + 1) / 2 * CELLS);
  for (let at = 0; at < size; at++) {
    const key = cell(x[at]) * 1024 + cell(y[at]);
    if (!grid.has(key)) grid.set(key, []);
    grid.get(key).push(at);
  }
  function under(clientX, clientY) {
    const far = (radius() + 5) / (base() * scale);
    const worldX = (clientX - centre()) / (base() * scale) + middleX;
    const worldY = middleY - (clientY - height / 2 - 20) / (base() * scale);
    let best = -1, least = far * far;
    for (let column = cell(worldX - far); column <= cell(worldX + far); column++) {
      for (let row = cell(worldY - far); row <= cell(worldY + far); row++) {
        for (const at of grid.get(column * 1024 + row) || []) {
          const apart = (x[at] - worldX) ** 2 + (y[at] - worldY) ** 2;
          if (apart < least && shown(at)) { least = apart; best = at; }
        }
      }
    }
    return best;
  }

  // --- the card that shows an edit
  let hovered = -1, kept = -1;
  function version(kind, sign, pieces) {
    const block = document.createElement("pre");
    block.className = kind;
    block.append(`${sign} `);
    pieces.forEach((text, at) => {
      // Pieces are alternately unchanged and changed.
      if (at % 2) {
        const strong = document.createElement("b");
        strong.textContent = text;
        block.append(strong);
      } else block.append(text);
    });
    return block;
  }
  function show(at, clientX, clientY) {
    card.hidden = at < 0;
    if (at < 0) return;
    const head = document.createElement("h2");
    const values = data.schemes.map((each) => each.names[each.values[at]]).filter((name) => name);
    head.textContent = [data.ids[at], ...new Set(values)].join("  ·  ");
    card.replaceChildren(head, version("gone", "-", data.before[at]), version("come", "+", data.after[at]));
    const box = card.getBoundingClientRect();
    card.style.left = `${Math.max(8, clientX + 16 + box.width > width ? clientX - box.width - 16 : clientX + 16)}px`;
    card.style.top = `${Math.max(8, Math.min(clientY + 12, height - box.height - 8))}px`;
  }

  // --- pointer, wheel and keyboard
  let drag = null;
  marks.onpointermove = (event) => {
    if (drag) {
      middleX = drag.middleX - (event.clientX - drag.x) / (base() * scale);
      middleY = drag.middleY + (event.clientY - drag.y) / (base() * scale);
      drag.far = drag.far || Math.hypot(event.clientX - drag.x, event.clientY - drag.y) > 4;
      draw();
      return;
    }
    const at = under(event.clientX, event.clientY);
    if (at !== hovered) {
      hovered = at;
      if (kept < 0) show(at, event.clientX, event.clientY);
      draw();
    }
  };
  marks.onpointerdown = (event) => {
    drag = { x: event.clientX, y: event.clientY, middleX, middleY, far: false };
    marks.setPointerCapture(event.pointerId);
    marks.classList.add("moving");
  };
  marks.onpointerup = (event) => {
    const click = drag && !drag.far;
    drag = null;
    marks.classList.remove("moving");
    if (!click) return;
    kept = under(event.clientX, event.clientY);
    card.classList.toggle("kept", kept >= 0);
    show(kept, event.clientX, event.clientY);
    draw();
  };
  marks.onpointerleave = () => { hovered = -1; if (kept < 0) show(-1); draw(); };
  marks.addEventListener("wheel", (event) => {
    event.preventDefault();
    const factor = Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0015));
    zoom(Math.min(400, Math.max(0.5, scale * factor)), event.clientX, event.clientY);
  }, { passive: false });
  function zoom(to, clientX, clientY) {
    // The point under the pointer stays where it is.
    const moveX = (clientX - centre()) / base(), moveY = (clientY - height / 2 - 20) / base();
    middleX += moveX / scale - moveX / to;
    middleY -= moveY / scale - moveY / to;
    scale = to;
    if (kept < 0) show(-1);
    draw();
  }
  function reset() {
    scale = 1; middleX = middleY = 0; kept = -1; hidden.clear(); byId("search").value = "";
    card.classList.remove("kept");
    show(-1);
    find("");
    drawLegend();
  }
  const texts = data.ids.map((id, at) => [id, data.before[at].join(""), data.after[at].join("")].join("\n").toLowerCase());
  function find(query) {
    const wanted = query.trim().toLowerCase();
    found = wanted ? texts.map((text) => text.includes(wanted)) : null;
    paint();
  }
  byId("search").oninput = (event) => find(event.target.value);
  byId("reset").onclick = reset;
  addEventListener("keydown", (event) => {
    if (event.key === "Escape") reset();
    else if (event.key === "/" && event.target !== byId("search")) { event.preventDefault(); byId("search").focus(); }
  });
  addEventListener("resize", resize);
  const select = byId("colour");
  data.schemes.forEach((each) => select.append(new Option(each.name, each.name)));
  select.onchange = () => choose(select.value);
  select.value = data.schemes[0].name;
  resize();
  choose(data.schemes[0].name);
  window.editMap = { under, toX, toY, size, zoom, state: () => ({ scale, hovered, kept, gl: !!gl }) };
})();
