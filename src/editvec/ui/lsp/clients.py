"""What a client can do, as far as the server asks."""

from __future__ import annotations

from dataclasses import dataclass

from lsprotocol import types


@dataclass(frozen=True, slots=True)
class ClientFacts:
    """What the client said in its capabilities."""

    has_annotations: bool = False
    """Edits may be marked as in need of confirmation, and the client asks."""
    honors_annotations: bool = False
    """It also asks if the edit is part of a code action."""
    has_versions: bool = False
    """Edits may name the version of a document that they are for."""
    resolves_edits: bool = False
    """The edit of an action may be computed when the action is chosen."""
    has_action_literals: bool = False
    """An action may be more than a command."""
    has_preferred: bool = False
    applies_edits: bool = False
    """The server may ask for an edit."""
    has_metadata: bool = False
    """An edit may be marked as a refactoring."""
    has_configuration: bool = False
    watches_files: bool = False
    """The server may ask to be told when files change on the disk."""
    has_progress: bool = False

    @classmethod
    def of(cls, capabilities: types.ClientCapabilities) -> ClientFacts:
        """Return the facts in a client's capabilities."""
        workspace = capabilities.workspace or types.WorkspaceClientCapabilities()
        edit = workspace.workspace_edit or types.WorkspaceEditClientCapabilities()
        document = capabilities.text_document or types.TextDocumentClientCapabilities()
        action = document.code_action or types.CodeActionClientCapabilities()
        resolve = action.resolve_support
        watched = workspace.did_change_watched_files
        annotations = bool(edit.document_changes) and edit.change_annotation_support is not None
        return cls(
            has_annotations=annotations,
            honors_annotations=annotations and bool(action.honors_change_annotations),
            has_versions=bool(edit.document_changes),
            resolves_edits=bool(action.data_support) and resolve is not None and "edit" in resolve.properties,
            has_action_literals=action.code_action_literal_support is not None,
            has_preferred=bool(action.is_preferred_support),
            applies_edits=bool(workspace.apply_edit),
            has_metadata=bool(edit.metadata_support),
            has_configuration=bool(workspace.configuration),
            watches_files=watched is not None and bool(watched.dynamic_registration),
            has_progress=capabilities.window is not None and bool(capabilities.window.work_done_progress),
        )
