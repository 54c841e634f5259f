"""The service of nodes and edges: typed writes through the registry, reads of one owner.

Every function takes a connection and an owner and runs in the caller's transaction. Hidden and merged nodes and edges
are left out unless they are asked for.
"""

from internal.graph.edge_repository import (
    add_edge,
    delete_edges,
    edges_of,
    get_edge,
    has_edge,
    owner_of_edge,
    update_edge,
)
from internal.graph.node_repository import (
    add_node,
    count_nodes,
    date_node,
    ensure_owner_node,
    get_node,
    item_kind,
    make_findable,
    node_ids,
    nodes,
    nodes_by_ids,
    nodes_called,
    nodes_named,
    owner_node_id,
    owner_of_node,
    redirect_node,
    resolve_node,
    touch_nodes,
    update_node,
)
from internal.graph.repoint_repository import delete_node, repoint, restore_ends
