"""Removes claims with the facts and words that came from them and the entities that nothing else supports.

A fact that a removed claim had closed reopens, since facts follow from the remaining claims.
"""

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection

from internal.errors import NotFound
from internal.graph import store
from internal.graph.model import Node
from internal.knowledge import fact_repository
from internal.knowledge.claims import repository as claim_repository
from internal.knowledge.claims.changes import Removal
from internal.knowledge.claims.projection import FactProjector
from internal.knowledge.claims.time_rules import wording
from internal.knowledge.fact_repository import StoredVersion
from internal.knowledge.model import Claim
from internal.knowledge.relations import group_of
from internal.storage import evidence, search_items
from internal.storage.evidence import Lines

_SOURCE = "system:forgetting"
_ORPHANS = frozenset({"Entity", "Preference", "Topic"})
"""Labels of nodes that are deleted with their last support."""


def remove_episode_claims(connection: Connection, user_id: int, episode_id: str, *, now: datetime) -> Removal:
    """Removes the claims of an episode and all its evidence. The episode's row stays."""
    claims = claim_repository.of_episode(connection, user_id, episode_id)
    dropped = evidence.remove_lines(connection, user_id, Lines(episode_id=episode_id, segments=None))
    cited, named = evidence.ids_of_kind(dropped, "entity"), evidence.ids_of_kind(dropped, "name")
    return _ClaimRemover(connection, user_id, now=now).remove(claims, cited, named=named)


def remove_claims_of_messages(
    connection: Connection, user_id: int, message_ids: Collection[str], *, now: datetime
) -> Removal:
    """Removes what only these messages support.

    A claim that other lines support too stays, unless it holds a word that only the removed lines said.
    """
    lines = Lines(message_ids=message_ids)
    unsupported = claim_repository.stored.supported_alone_by(connection, user_id, lines, lambda claim: [claim.fact])
    dropped = evidence.remove_lines(connection, user_id, lines)
    cited, named = evidence.ids_of_kind(dropped, "entity"), evidence.ids_of_kind(dropped, "name")
    return _ClaimRemover(connection, user_id, now=now).remove(unsupported, cited, named=named)


def remove_claims(
    connection: Connection,
    user_id: int,
    claims: Sequence[Claim],
    cited: Collection[str],
    described: Collection[str],
    *,
    now: datetime,
) -> Removal:
    """Removes these claims, the entities among `cited` that nothing supports, and the descriptions of `described`."""
    return _ClaimRemover(connection, user_id, now=now, described=described).remove(claims, cited)


def erase_fact(connection: Connection, user_id: int, fact_id: str, *, now: datetime) -> Removal:
    """Removes a fact with all its versions and their claims. Raises NotFound."""
    chain = fact_repository.chain(connection, user_id, fact_id)
    if not chain:
        raise NotFound(f"there is no fact {fact_id}")
    claims = claim_repository.of_edges(connection, user_id, [version.fact.id for version in chain])
    _drop_citations_of_ends(connection, user_id, claims)
    return _ClaimRemover(connection, user_id, now=now).remove(claims, (), chain)


def erase_node(connection: Connection, user_id: int, node_id: str, *, now: datetime) -> Removal:
    """Removes an entity with every fact about it. Raises NotFound."""
    if store.get_node(connection, user_id, node_id, hidden=True) is None:
        raise NotFound(f"there is no node {node_id}")
    claims = claim_repository.at_nodes(connection, user_id, [node_id])
    versions = fact_repository.at_nodes(connection, user_id, [node_id])
    removal = _ClaimRemover(connection, user_id, now=now, erased=node_id).remove(claims, (), versions)
    store.delete_node(connection, user_id, node_id)
    return Removal(removal.claims, (node_id, *removal.nodes), removal.episodes, removal.changes)


def _drop_citations_of_ends(connection: Connection, user_id: int, claims: Sequence[Claim]) -> None:
    """Removes the evidence of nodes that only these claims are about, so that their lines do not keep them."""
    ids = {claim.id for claim in claims}
    segments: dict[str, set[int]] = defaultdict(set)
    for episode_id, number in evidence.supporting_lines(connection, user_id, "claim", ids):
        segments[episode_id].add(number)
    ends = {end for claim in claims for end in (claim.source, claim.target)}
    alone = [
        end for end in ends if {claim.id for claim in claim_repository.at_nodes(connection, user_id, [end])} <= ids
    ]
    targets = [evidence.target("entity", end) for end in alone]
    for episode_id, numbers in segments.items():
        evidence.remove_support(connection, user_id, targets, Lines(episode_id=episode_id, segments=numbers))


@dataclass
class _ClaimRemover(FactProjector):
    """One removal. `erased` is a node that is deleted anyway; `described` are nodes that lose their description.

    `described` None means all nodes whose lines are removed.
    """

    forgetting: bool = True
    erased: str | None = None
    described: Collection[str] | None = None

    def remove(
        self,
        claims: Sequence[Claim],
        cited: Collection[str],
        versions: Sequence[StoredVersion] = (),
        *,
        named: Collection[str] = (),
    ) -> Removal:
        """Removes claims, these versions, every version with their words, and what nothing supports any more.

        `named` are names that lost a line, by the ids of their nodes: all that is left of a thing whose facts were
        forgotten before.
        """
        ids = [claim.id for claim in claims]
        versions_worded = [
            version
            for version in fact_repository.worded_by(self.connection, self.user_id, ids)
            if version not in versions
        ]
        claim_repository.remove(self.connection, self.user_id, ids)
        self.delete(versions)
        self._reword([version for version in versions_worded if version.fact.expired_at is not None])
        self.project(group_of(claim) for claim in claims)
        ends = {end for claim in claims for end in (claim.source, claim.target)}
        ends |= {end for version in versions for end in (version.fact.source, version.fact.target)}
        ends |= {name.split(":", 1)[0] for name in named}
        nodes = self._drop_unsupported(ends | set(cited), set(cited))
        self.record(_SOURCE)
        episodes = dict.fromkeys(claim.episode_id for claim in claims if claim.episode_id)
        return Removal(len(ids), nodes, tuple(episodes), self.changes)

    def _reword(self, versions: Sequence[StoredVersion]) -> None:
        """Rewrites old versions that have the words of a removed claim by a remaining claim, or deletes them."""
        for version in versions:
            left = claim_repository.of_edges(self.connection, self.user_id, [version.fact.id])
            stored = fact_repository.versions(self.connection, self.user_id, [version.fact.id]).get(version.fact.id)
            if stored is None:
                continue
            if left:
                self.rewrite(stored, wording(left))
            else:
                self.delete([stored])

    def _drop_unsupported(self, node_ids: Collection[str], cited: Collection[str]) -> list[str]:
        dropped: list[str] = []
        for node_id in sorted(set(node_ids) - {self.erased, store.owner_node_id(self.user_id)}):
            node = store.get_node(self.connection, self.user_id, node_id, hidden=True)
            if node is None:
                continue
            if not self._supported(node):
                store.delete_node(self.connection, self.user_id, node_id)
                dropped.append(node_id)
            elif node_id in (cited if self.described is None else self.described):
                self._drop_words(node)
        return dropped

    def _supported(self, node: Node) -> bool:
        """Whether a node has a profile, the owner's word, a line, a claim, a memory or an edge, and so stays."""
        if node.label not in _ORPHANS or any(mark.get("by") == "owner" for mark in node.field_meta.values()):
            return True
        if fact_repository.person_of(self.connection, self.user_id, node.id) is not None:
            return True
        if evidence.rows(self.connection, self.user_id, "entity", [node.id]):
            return True
        if claim_repository.names_node(self.connection, self.user_id, node.id):
            return True
        if claim_repository.is_remembered(self.connection, self.user_id, node.id):
            return True
        return store.has_edge(self.connection, self.user_id, node.id)

    def _drop_words(self, node: Node) -> None:
        """Removes the description of a node that stays, unless the owner wrote it: it may hold removed words.

        A person's description is the bio of the profile, which has evidence of its own.
        """
        if fact_repository.person_of(self.connection, self.user_id, node.id) is not None:
            return
        if node.properties.get("description") and node.field_meta.get("description", {}).get("by") != "owner":
            kind = store.item_kind(node.label)
            search_items.forget_words(self.connection, self.user_id, kind, node.id)
            store.update_node(self.connection, self.user_id, node.id, {"description": None}, now=self.now, hidden=True)
