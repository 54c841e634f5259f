"""The sources of a reply: those it cites by number, and those that were only in the prompt."""

from collections.abc import Mapping

from internal.agents.citation_forms import CitationMark
from internal.agents.citations import marks_in, superscript
from internal.agents.model import ResponderRequest
from internal.dialogue.model import ReplySource, SourceKind


def sources_of(request: ResponderRequest, reply: str) -> list[ReplySource]:
    """The cited sources in the order of their numbers, then the other ones of the prompt, people last."""
    given = _given_sources(request)
    marked = [mark for mark in marks_in(reply) if mark in given]
    # Instructions are in every prompt: only an answer that cites one is based on it.
    ordered = [*marked, *(mark for mark in given if mark not in marked and mark.kind != "I")]
    people = (*request.relevant_people, *request.inner_circle)
    shown = [ReplySource(n, *given[mark], mark in marked) for n, mark in enumerate(ordered, start=1)]
    return shown + [ReplySource(n, "person", str(one.id)) for n, one in enumerate(people, start=len(shown) + 1)]


def page_links(request: ResponderRequest, reply: str) -> str:
    """The addresses of the cited web pages with their numbers, one a line, to be shown below the reply."""
    pages = {CitationMark("S", one.n): one.ref_id for one in request.passages if one.kind == "page"}
    cited = enumerate(marks_in(reply), start=1)
    return "\n".join(f"{superscript(n)} {pages[mark]}" for n, mark in cited if mark in pages)


def used_memories(request: ResponderRequest, reply: str) -> list[str]:
    """The memories that an answer used: those it cites, or if it cites none, those that were found for the question.

    An associated memory counts only if it is cited: otherwise a link would strengthen itself by being recalled.
    """
    marked = set(marks_in(reply))
    cited = [one.node_id for one in request.memories if CitationMark("M", one.n) in marked]
    return cited or [one.node_id for one in request.memories if not one.associated]


def _given_sources(request: ResponderRequest) -> Mapping[CitationMark, tuple[SourceKind, str]]:
    """Kind and id of each mark."""
    given: dict[CitationMark, tuple[SourceKind, str]] = {
        CitationMark("F", one.n): ("fact", one.fact_id) for one in request.facts
    }
    given |= {CitationMark("M", one.n): ("memory", one.node_id) for one in request.memories}
    given |= {CitationMark("I", one.n): ("memory", one.node_id) for one in request.instructions}
    return given | {CitationMark("S", one.n): (one.kind, one.ref_id) for one in request.passages}
