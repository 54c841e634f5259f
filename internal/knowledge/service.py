"""The service of facts: recording claims, correcting, reading, citations, removing, hiding.

Every function takes a connection and an owner and runs in the caller's transaction.
"""

from internal.knowledge.claims.record import cite_node, record_claims, reproject
from internal.knowledge.entities.names import drop_names, note_names
from internal.knowledge.facts.citations import (
    citation_chain,
    citations_of_facts,
    episode_content,
    evidence_of_fact,
    evidence_of_facts,
    spoken,
    telegram_link,
    wire_description,
)
from internal.knowledge.facts.correct import (
    ending_claims,
    reopen_fact,
    resolve_contradiction,
    retract_fact,
    undo_correction,
    update_fact,
)
from internal.knowledge.facts.read import (
    answer_given,
    attributes_of_facts,
    count_facts,
    fact,
    facts,
    facts_about,
    history,
    latest_facts,
    open_contradictions,
)
from internal.knowledge.model import FactFilter
from internal.knowledge.removal.removal import erase_fact, erase_node, remove_claims_of_messages, remove_episode_claims
from internal.knowledge.removal.rerun import remove_slice_claims, remove_unsupported, without_corrected, without_denied
