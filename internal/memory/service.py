"""The service of memories: writing replies and the owner's changes, removing, reading, sessions.

Every function takes a connection and an owner and runs in the caller's transaction.
"""

from internal.memory.observations.owner_changes import (
    accept_suggestion,
    change_node,
    contradiction_sides,
    decline_suggestion,
    is_found_by_words,
    observations_of,
    put_edge,
    put_node,
    remove_edge,
    resolve_contradiction,
    set_status,
    suggestions,
)
from internal.memory.observations.record import write
from internal.memory.observations.removal import (
    mentioning,
    project_nodes,
    remove_episode,
    remove_mentioning,
    remove_message_observations,
    remove_messages,
    remove_node,
    remove_node_observations,
    remove_repeating,
    reproject,
)
from internal.memory.observations.repository import publish
from internal.memory.observations.rerun import remove_slice_observations, remove_unsupported
from internal.memory.observations.targets_repository import complete_session, session_context_id, superseded
