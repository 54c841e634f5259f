// The graph around a node: who and what it is linked with, opened node by node. The same nodes as a list for those who
// see no drawing; what a node is and its links stand beside.
import stage, { lines, measure } from "/static/stage.js";
import { settle, WIDE } from "/static/force.js";

const MOST = 150; // nodes shown at once
const AT_ONCE = 14; // neighbours of each kind; opened again, a node brings more
const DAY = 86400000;
const NAME = 11.5, SAYING = 9.5; // sizes of letters, as in graph.css
const ROW = 13; // the height of a line of a name

const short = (text, most) => (text.length > most ? text.slice(0, most - 1).trimEnd() + "…" : text);

export default {
  mixins: [stage],
  props: ["words", "labels", "relations", "kinds", "communities", "beginning", "locale", "zone", "profile"],
  emits: ["load", "search", "sources"],
  template: `
    <div :class="['graph', { 'details-open': chosen && opened }]">
      <div class="graph-bar">
        <div class="graph-search" data-search>
          <label class="search"><span class="material-icons" aria-hidden="true">search</span><span class="sr">{{ words.search }}</span>
            <input type="search" v-model="query" :placeholder="words.search" autocomplete="off" @input="asked" @keydown.down.prevent="intoFound" @keydown.esc="found = null"></label>
          <ul v-if="found" class="graph-found" :aria-label="words.found">
            <li v-for="one in found" :key="one.uuid"><button type="button" @click="begin(one.uuid)"><b>{{ one.name }}</b><span>{{ one.summary || one.label }}</span></button></li>
            <li v-if="!found.length" class="dim">{{ words.nothing }}</li>
          </ul>
        </div>
        <div class="graph-kinds" role="group" :aria-label="words.kinds">
          <button v-for="kind in kinds" :key="kind.id" type="button" :class="['lane', kind.tone]" :aria-pressed="String(!off.has(kind.id))" @click="toggle(kind.id)"><span class="lane-dot"></span>{{ kind.name }}</button>
        </div>
        <label class="graph-time"><span>{{ words.asOf }} <b>{{ day }}</b></span>
          <input type="range" :min="first" :max="today" step="1" v-model.number="moment" :aria-valuetext="day" @change="reload"></label>
        <div class="graph-view" role="group" :aria-label="words.view">
          <button type="button" :aria-pressed="String(!listed)" @click="listed = false"><span class="material-icons" aria-hidden="true">hub</span>{{ words.drawn }}</button>
          <button type="button" :aria-pressed="String(listed)" @click="listed = true"><span class="material-icons" aria-hidden="true">list</span>{{ words.listed }}</button>
        </div>
      </div>
      <div class="graph-stage">
        <p class="sr" role="status">{{ counts }}</p>
        <svg ref="svg" v-show="!listed" class="graph-svg" role="group" :aria-label="words.drawing" @wheel="wheel" @pointerdown="down" @pointermove="move" @pointerup="up" @pointercancel="up" @keydown="key">
          <g :transform="moved">
            <g v-for="edge in drawn" :key="edge.id" :class="['edge', edge.kind, { near: near(edge) }]" aria-hidden="true">
              <line :x1="edge.from.x" :y1="edge.from.y" :x2="edge.to.x" :y2="edge.to.y" />
              <g v-if="near(edge) && named" v-for="place in [free(edge)]" :transform="along(place)"><text v-for="(line, n) in saying(edge, place)" :y="n ? 11 : -4">{{ line }}</text></g>
            </g>
            <g v-for="node in nodes" :key="node.id" :data-node="node.id" :class="['node', look(node).tone, { chosen: node.id === chosen, himself: node.owner, far: chosen && !beside.has(node.id), open: node.count !== undefined }]"
               role="button" :tabindex="node.id === (chosen || nodes[0].id) ? 0 : -1" :aria-pressed="String(node.id === chosen)" :aria-label="node.name + ', ' + look(node).name" :transform="'translate(' + node.x + ' ' + node.y + ')'"
               @click="pick(node)" @dblclick="expand(node)" @mouseenter="over = node.id" @mouseleave="over = ''">
              <circle v-if="circleOf.has(node.id)" :class="['halo', circleOf.get(node.id).tone]" :r="radius(node) + 5" />
              <circle :r="radius(node)" />
              <text class="node-sign material-icons" aria-hidden="true" :style="{ fontSize: radius(node) * 1.15 + 'px' }">{{ look(node).icon }}</text>
            </g>
            <g v-for="node in nodes" v-show="tells(node)" :key="'name-' + node.id" :class="['names', { far: chosen && !beside.has(node.id) }]" aria-hidden="true">
              <text class="node-name" :y="node.y + radius(node) + 13"><tspan v-for="(line, n) in label(node)" :key="n" :x="node.x" :dy="n ? 13 : 0">{{ line }}</tspan></text>
            </g>
          </g>
        </svg>
        <div v-if="listed" class="graph-list" tabindex="0" role="region" :aria-label="words.listed">
          <section v-for="group in groups" :key="group.name"><h2>{{ group.name }} <span>{{ group.nodes.length }}</span></h2>
            <ul><li v-for="node in group.nodes" :key="node.id"><button type="button" class="listed" :aria-pressed="String(node.id === chosen)" @click="pick(node)">
              <span :class="['sign', look(node).tone]"><span class="material-icons" aria-hidden="true">{{ look(node).icon }}</span></span><span class="listed-name">{{ brief(node.name, 120) }}</span><span class="dim">{{ links(node.id).length }}</span></button></li></ul></section>
        </div>
        <ul v-if="legend.length" class="graph-legend" :aria-label="words.communities">
          <li v-for="one in legend" :key="one.id" :class="one.tone"><span class="lane-dot"></span>{{ one.name }}</li>
        </ul>
        <p v-if="notice" class="graph-notice" role="status">{{ notice }}</p>
        <div class="zoom" v-show="!listed">
          <button type="button" :aria-label="words.closer" @click="zoom(1.35)"><span class="material-icons" aria-hidden="true">add</span></button>
          <button type="button" :aria-label="words.farther" @click="zoom(1 / 1.35)"><span class="material-icons" aria-hidden="true">remove</span></button>
          <button type="button" :aria-label="words.whole" @click="fit"><span class="material-icons" aria-hidden="true">fit_screen</span></button>
        </div>
      </div>
      <section class="graph-details" :aria-label="words.details" tabindex="0">
        <template v-if="here">
          <div class="here"><span :class="['sign', look(here).tone]"><span class="material-icons" aria-hidden="true">{{ look(here).icon }}</span></span>
            <div><h2>{{ brief(here.name, 140) }}</h2><p class="dim">{{ look(here).name }}<template v-if="here.at"> · {{ date(here.at) }}</template></p></div>
            <button type="button" class="here-close" :aria-label="words.close" @click="opened = false"><span class="material-icons" aria-hidden="true">close</span></button></div>
          <p v-if="here.text && here.text !== here.name" class="here-text">{{ here.text }}</p>
          <div class="here-acts">
            <button type="button" class="act small" :disabled="busy" @click="expand(here)"><span class="material-icons" aria-hidden="true">add_circle</span>{{ words.expand }}</button>
            <button type="button" class="act small" :disabled="busy" @click="begin(here.id)"><span class="material-icons" aria-hidden="true">center_focus_strong</span>{{ words.only }}</button>
            <a v-if="here.person_id" class="act small" :href="profile.replace('PERSON', here.person_id)"><span class="material-icons" aria-hidden="true">person</span>{{ words.profile }}</a>
          </div>
          <p v-if="left(here) > 0" class="dim here-more">{{ words.more.replace('#', left(here)) }}</p>
          <h3>{{ words.links }}</h3>
          <ul class="ties">
            <li v-for="tie in links(here.id)" :key="tie.id">
              <button type="button" class="tie" @click="pick(tie.other)"><span :class="['tie-dot', look(tie.other).tone]"></span><span><span class="dim">{{ tie.out ? relation(tie) : '← ' + relation(tie) }}</span> <b>{{ brief(tie.other.name, 80) }}</b><span v-if="tie.text" class="tie-text">{{ tie.text }}</span>
                <span v-if="tie.valid_at || tie.invalid_at" class="tie-when">{{ span(tie) }}</span></span></button>
              <button v-if="tie.kind === 'fact' && tie.text" type="button" class="tie-why" :aria-expanded="String(!!sources[tie.id])" :aria-label="words.sources + ': ' + tie.text" @click="why(tie)"><span class="material-icons" aria-hidden="true">format_quote</span></button>
              <div v-if="sources[tie.id]" class="tie-lines"><blockquote v-for="line in sources[tie.id]" class="quote"><p>{{ line.quote }}</p><footer><span v-if="line.speaker">{{ line.speaker }}</span><time>{{ date(line.at) }}</time></footer></blockquote>
                <p v-if="!sources[tie.id].length" class="dim">{{ words.noSources }}</p></div>
            </li>
          </ul>
          <p v-if="!links(here.id).length" class="dim">{{ words.alone }}</p>
        </template>
        <p v-else class="dim graph-choose">{{ words.choose }}</p>
      </section>
    </div>`,
  data() {
    const today = Math.floor(Date.now() / DAY);
    return { all: [], ties: [], root: "", chosen: "", opened: false, off: new Set(), query: "", found: null, listed: false, moment: today, today, first: today - 365, busy: false, notice: "", over: "", sources: {} };
  },
  computed: {
    byId() { return new Map(this.all.map((node) => [node.id, node])); },
    nodes() {
      const reached = new Set([this.root, ...this.all.filter((node) => node.count !== undefined).map((node) => node.id)]), led = new Map();
      for (const tie of this.ties.filter((one) => !this.off.has(one.kind))) {
        for (const [a, b] of [[tie.source, tie.target], [tie.target, tie.source]]) led.set(a, [...(led.get(a) || []), b]);
      }
      for (const id of reached) for (const next of led.get(id) || []) reached.add(next);
      return this.all.filter((node) => reached.has(node.id));
    },
    edges() {
      const shown = new Set(this.nodes.map((node) => node.id));
      return this.ties.filter((one) => !this.off.has(one.kind) && shown.has(one.source) && shown.has(one.target)).map((one) => ({ ...one, from: this.byId.get(one.source), to: this.byId.get(one.target) }));
    },
    drawn() {
      const pairs = new Map();
      for (const edge of this.edges) {
        const pair = [edge.source, edge.target].sort().join(" ");
        if (!pairs.has(pair)) pairs.set(pair, { ...edge, said: new Set() });
        pairs.get(pair).said.add(this.relation(edge));
      }
      return [...pairs.values()];
    },
    linked() {
      const linked = new Map();
      for (const edge of this.edges) {
        for (const [id, other, out] of [[edge.source, edge.to, true], [edge.target, edge.from, false]]) {
          if (!linked.has(id)) linked.set(id, []);
          linked.get(id).push({ ...edge, other, out });
        }
      }
      return linked;
    },
    circleOf() { return new Map(this.communities.flatMap((one) => one.members.map((node) => [node, one]))); },
    legend() { const shown = new Set(this.nodes.map((node) => this.circleOf.get(node.id))); return this.communities.filter((one) => shown.has(one)); },
    here() { return this.byId.get(this.chosen); },
    beside() { return new Set([this.chosen, ...this.links(this.chosen).map((tie) => tie.other.id)]); },
    named() { return this.links(this.chosen).length <= 24; },
    groups() {
      const groups = new Map();
      for (const node of this.nodes) {
        const name = this.look(node).name;
        groups.set(name, [...(groups.get(name) || []), node]);
      }
      return [...groups].map(([name, nodes]) => ({ name, nodes })).sort((a, b) => b.nodes.length - a.nodes.length);
    },
    day() { return this.moment >= this.today ? this.words.now : new Intl.DateTimeFormat(this.locale, { day: "numeric", month: "short", year: "numeric", timeZone: "UTC" }).format(this.moment * DAY); },
    counts() { return this.words.counts.replace("#n", this.nodes.length).replace("#e", this.edges.length); },
  },
  watch: {
    off() { this.arrange(); },
    listed(on) { if (!on) this.$nextTick(() => this.fit()); },
  },
  mounted() { this.loaded(this.beginning, true); },
  unmounted() { cancelAnimationFrame(this.turning); },
  methods: {
    brief: short,
    look(node) { return this.labels[node.owner ? "owner" : node.type && this.labels[node.type] ? node.type : node.label] || { name: node.label, icon: "circle", tone: "tone-7" }; },
    radius(node) { return (node.owner ? 18 : 11) + Math.min(8, 1.6 * Math.sqrt(this.links(node.id).length)); },
    tells(node) {
      if (this.nodes.length <= 60 || this.k > 1.2 || node.id === this.over || node.count !== undefined) return true;
      return this.beside.has(node.id) && this.beside.size <= 40;
    },
    // The whole name of what is chosen or pointed at, two lines of any other.
    label(node) { return node.id === this.chosen || node.id === this.over ? lines(node.name, NAME, 170, 8) : lines(node.name, NAME, WIDE, 2); },
    // The part of a line that no node and no name covers: names stand below nodes, so a line down begins under one.
    free({ from, to }) {
      const [up, low] = from.y <= to.y ? [from, to] : [to, from], dx = low.x - up.x, dy = low.y - up.y, length = Math.hypot(dx, dy) || 1;
      const name = this.label(up), half = Math.max(...name.map((line) => measure(line, NAME))) / 2 + 4, edge = this.radius(up);
      const covered = Math.min((half * length) / Math.abs(dx), ((edge + ROW * (name.length + 1)) * length) / dy);
      const begin = half * dy < edge * Math.abs(dx) ? edge : covered, end = length - this.radius(low), middle = (begin + end) / 2 / length;
      return { room: end - begin - 8, x: up.x + dx * middle, y: up.y + dy * middle, turn: (Math.atan2(dy, dx) * 180) / Math.PI };
    },
    // Along the line, never upside down: words above it, and below it where one line is too short; nothing is cut.
    along({ x, y, turn }) { return `translate(${x} ${y}) rotate(${turn > 90 ? turn + 180 : turn})`; },
    saying({ said }, { room }) {
      const words = [...said].join(" · ");
      if (words.split(" ").some((word) => measure(word, SAYING) > room)) return [];
      const found = lines(words, SAYING, room, 2);
      return found.at(-1).endsWith("…") ? [] : found;
    },
    links(id) { return this.linked.get(id) || []; },
    near(edge) { return edge.source === this.chosen || edge.target === this.chosen; },
    relation(edge) { return this.relations[edge.name] || edge.name.toLowerCase().replaceAll("_", " "); },
    date(at) { return new Intl.DateTimeFormat(this.locale, { day: "numeric", month: "short", year: "numeric", timeZone: this.zone }).format(new Date(at)); },
    span(tie) { return [tie.valid_at ? this.date(tie.valid_at) : "…", tie.invalid_at ? this.date(tie.invalid_at) : ""].join(" – "); },
    left(node) { return node.count === undefined ? 0 : Math.max(0, node.count - this.links(node.id).length); },

    // What is asked of the page
    ask(ids, fresh) {
      this.busy = true; this.notice = "";
      const beside = fresh ? [] : this.all.map((node) => node.id);
      this.$emit("load", { ids, beside, fresh, limit: Math.min(200, AT_ONCE + (fresh ? 0 : this.links(ids[0]).length)), day: this.moment >= this.today ? null : new Date(this.moment * DAY + DAY - 1000).toISOString() });
    },
    begin(id) { this.found = null; this.query = ""; this.ask([id], true); },
    expand(node) {
      if (this.busy) return;
      if (this.all.length >= MOST) { this.notice = this.words.full; return; }
      this.pick(node);
      this.ask([node.id], false);
    },
    reload() { if (this.root) this.ask([this.root, ...this.all.filter((node) => node.count !== undefined && node.id !== this.root).map((node) => node.id)].slice(0, 8), true); },
    asked() {
      clearTimeout(this.waiting);
      this.found = null;
      if (this.query.trim().length > 1) this.waiting = setTimeout(() => this.$emit("search", this.query.trim()), 300);
    },
    why(tie) {
      if (this.sources[tie.id]) { const { [tie.id]: _, ...rest } = this.sources; this.sources = rest; } else this.$emit("sources", tie.id);
    },

    // What the page tells
    hits(query, found) { if (query === this.query.trim()) this.found = found; },
    lines(id, lines) { this.sources = { ...this.sources, [id]: lines }; },
    failed() { this.busy = false; },
    loaded(several, fresh) {
      this.busy = false;
      const nodes = new Map(fresh ? [] : this.all.map((node) => [node.id, node])), ties = new Map(fresh ? [] : this.ties.map((tie) => [tie.id, tie]));
      const before = this.byId;
      for (const [n, found] of several.entries()) {
        for (const node of [found.node, ...found.nodes]) {
          if (nodes.has(node.id) || (nodes.size >= MOST && node !== found.node)) continue;
          const around = nodes.get(found.node.id) || { x: 460 * n, y: 260 * (n % 2) }, old = before.get(node.id), turn = nodes.size * 2.4;
          nodes.set(node.id, { ...node, x: old ? old.x : around.x + 60 * Math.cos(turn), y: old ? old.y : around.y + 60 * Math.sin(turn) });
        }
        nodes.get(found.node.id).count = found.count; // known, so it was opened
        for (const edge of found.edges) if (nodes.has(edge.source) && nodes.has(edge.target)) ties.set(edge.id, edge);
      }
      this.all = [...nodes.values()]; this.ties = [...ties.values()];
      if (fresh) { this.root = several[0].node.id; this.touched = false; }
      if (!nodes.has(this.chosen)) this.chosen = several[0].node.id;
      const times = [...this.all.map((node) => node.at), ...this.ties.map((tie) => tie.valid_at)].filter(Boolean).map((at) => Math.floor(new Date(at) / DAY));
      this.first = Math.min(this.first, ...times);
      this.arrange();
    },

    // Where they stand
    arrange() {
      cancelAnimationFrame(this.turning);
      const nodes = this.nodes, edges = this.edges.map((edge) => [edge.from, edge.to]), tall = this.height / this.width;
      const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
      let heat = 1;
      if (still) { for (; heat > 0.02; heat *= 0.98) settle(nodes, edges, heat, tall); this.fit(); return; }
      const turn = () => {
        for (let n = 0; n < 2; n++, heat *= 0.98) settle(nodes, edges, heat, tall);
        if (!this.touched) { this.fit(); }
        if (heat > 0.02) this.turning = requestAnimationFrame(turn);
      };
      turn();
    },
    extent() {
      const xs = this.nodes.map((node) => node.x), ys = this.nodes.map((node) => node.y);
      const box = { left: Math.min(...xs) - 70, right: Math.max(...xs) + 70, top: Math.min(...ys) - 40, bottom: Math.max(...ys) + 60 };
      return xs.length ? box : { left: -100, right: 100, top: -100, bottom: 100 };
    },

    // What the reader does
    pick(node) {
      if (this.dragged) return;
      this.chosen = node.id; this.opened = true;
      if (!this.listed) this.$nextTick(() => this.$el.querySelector(`[data-node="${CSS.escape(node.id)}"]`)?.focus({ preventScroll: true }));
    },
    toggle(kind) {
      const off = new Set(this.off);
      if (!off.delete(kind)) off.add(kind);
      this.off = off;
    },
    intoFound() { this.$el.querySelector(".graph-found button")?.focus(); },
    key(event) {
      const way = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] }[event.key];
      this.dragged = false;
      if (event.key === "Enter" && this.here) { event.preventDefault(); this.expand(this.here); }
      if (!way || !this.here) return;
      event.preventDefault();
      let best = null, least = Infinity;
      for (const node of this.nodes) {
        const dx = node.x - this.here.x, dy = node.y - this.here.y, along = dx * way[0] + dy * way[1];
        const cost = Math.hypot(dx, dy) + 2 * Math.abs(dx * way[1] + dy * way[0]);
        if (node !== this.here && along > 4 && cost < least) { best = node; least = cost; }
      }
      if (best) this.pick(best);
    },
  },
};
