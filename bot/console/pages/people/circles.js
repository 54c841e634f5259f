// People as circles around the owner: a ring for each circle, nearest inside, everybody as large as they are often
// mentioned. Beside it the same people as a list; search and filters are for both.
import stage, { lines, measure } from "/static/stage.js";

const GAP = 14; // between two people of a ring
const LINE = 16, NAME = 14; // of a name below a person: its height, the size of its letters
const OWNER = 52;

const fold = (text) => text.toLocaleLowerCase().normalize("NFKD").replace(/\p{M}/gu, "");
const short = (name, most) => (name.length > most ? name.slice(0, most - 1).trimEnd() + "…" : name);

export default {
  mixins: [stage],
  props: ["words", "people", "circles", "owner", "count", "map"],
  emits: ["search"],
  template: `
    <div class="circles">
      <div class="circles-bar">
        <label class="search" data-search>
          <span class="material-icons" aria-hidden="true">search</span><span class="sr">{{ words.search }}</span>
          <input type="search" v-model="query" :placeholder="words.search" autocomplete="off" spellcheck="false" @input="asked">
        </label>
        <div class="circles-filter" role="group" :aria-label="words.filter">
          <button v-for="circle in circles" :key="circle.id" type="button" :class="['lane', circle.tone]" :aria-pressed="String(!hidden.has(circle.id))" @click="toggle(circle.id)">
            <span class="lane-dot"></span>{{ circle.name }} <span class="circles-count">{{ counts[circle.id] || 0 }}</span>
          </button>
        </div>
        <a class="people-view" :href="map">{{ words.map }}</a>
      </div>
      <div class="circles-stage">
        <svg ref="svg" class="circles-svg" role="group" :aria-label="words.drawing" @wheel="wheel" @pointerdown="down" @pointermove="move" @pointerup="up" @pointercancel="up">
          <g :transform="moved">
            <g v-for="ring in laid.rings" :key="ring.id" :class="['ring', ring.tone]">
              <circle class="ring-band" :r="ring.outer" />
            </g>
            <g class="self" aria-hidden="true">
              <circle :r="${OWNER}" /><text class="self-initials" y="2">{{ owner.initials }}</text><text class="self-name" y="22">{{ lines(owner.name, 13.5, 92, 1)[0] }}</text>
            </g>
            <a v-for="one in laid.dots" :key="one.id" :href="one.href" :class="['dot', one.tone, { dim: fits && !fits.has(one.id) }]" :transform="'translate(' + one.x + ' ' + one.y + ')'"
               :aria-label="one.label" :tabindex="fits && !fits.has(one.id) ? -1 : 0" draggable="false" @click="clicked" @mouseenter="over = one" @mouseleave="over = null" @focus="over = one" @blur="over = null">
              <circle :r="one.r" />
              <text class="dot-initials" :style="{ fontSize: one.r * 0.72 + 'px' }" aria-hidden="true">{{ one.initials }}</text>
              <text class="dot-name" :y="one.r + ${LINE}" aria-hidden="true"><tspan v-for="(line, n) in one.named" :key="n" x="0" :dy="n ? ${LINE} : 0">{{ line }}</tspan></text>
            </a>
            <g v-for="ring in laid.rings" :key="'name-' + ring.id" :class="['ring', ring.tone]" aria-hidden="true">
              <text class="ring-name" :y="5 - ring.outer">{{ ring.name }}</text>
            </g>
          </g>
        </svg>
        <div v-if="over" class="dot-card" :style="card" aria-hidden="true">
          <b>{{ over.name }}</b><span>{{ over.circleName }} · {{ over.mentioned }}</span><p v-if="over.bio">{{ brief(over.bio, 150) }}</p>
        </div>
        <div class="zoom">
          <button type="button" :aria-label="words.closer" @click="zoom(1.35)"><span class="material-icons" aria-hidden="true">add</span></button>
          <button type="button" :aria-label="words.farther" @click="zoom(1 / 1.35)"><span class="material-icons" aria-hidden="true">remove</span></button>
          <button type="button" :aria-label="words.whole" @click="fit"><span class="material-icons" aria-hidden="true">fit_screen</span></button>
        </div>
      </div>
      <section class="circles-list" :aria-label="words.list" tabindex="0">
        <p class="circles-summary" role="status">{{ summary }}</p>
        <div v-for="group in groups" :key="group.id">
          <h2 :class="['circles-group', group.tone]"><span class="lane-dot"></span>{{ group.name }}</h2>
          <ul>
            <li v-for="one in group.people" :key="one.id">
              <a class="someone" :href="one.href">
                <span :class="['avatar', one.tone]" aria-hidden="true">{{ one.initials }}</span>
                <span class="someone-lines"><b>{{ one.name }}</b><span>{{ one.bio || one.seen }}</span></span>
                <span class="someone-count" :title="one.mentioned">{{ one.mentions }}</span>
              </a>
            </li>
          </ul>
        </div>
      </section>
    </div>`,
  data: () => ({ query: "", hidden: new Set(), over: null, extra: [], looking: false }),
  computed: {
    everybody() {
      const known = new Set(this.people.map((one) => one.id));
      return [...this.people, ...this.extra.filter((one) => !known.has(one.id))].map((one) => ({ ...one, folded: fold([one.name, ...one.aliases, one.username || ""].join(" ")) }));
    },
    counts() {
      const counts = {};
      for (const one of this.people) counts[one.circle] = (counts[one.circle] || 0) + 1;
      return counts;
    },
    fits() {
      const words = fold(this.query.trim()).split(/\s+/).filter(Boolean);
      if (!words.length) return null;
      const named = this.everybody.filter((one) => words.every((word) => one.folded.includes(word)));
      const found = named.length ? named : this.extra;
      return new Set(found.map((one) => one.id));
    },
    shown() { return this.everybody.filter((one) => !this.hidden.has(one.circle)); },
    groups() {
      const listed = this.fits ? this.shown.filter((one) => this.fits.has(one.id)) : this.shown.filter((one) => this.people.some((known) => known.id === one.id));
      return this.circles.map((circle) => ({ ...circle, people: listed.filter((one) => one.circle === circle.id) })).filter((group) => group.people.length);
    },
    summary() {
      const n = this.groups.reduce((sum, group) => sum + group.people.length, 0);
      if (this.fits) return this.looking ? this.words.looking : n ? this.words.found.replace("#", n) : this.words.nobody;
      return this.count > this.people.length ? this.words.most : this.words.all;
    },
    laid() {
      const drawn = this.people.filter((one) => !this.hidden.has(one.circle));
      const most = Math.max(1, ...drawn.map((one) => one.mentions));
      const dots = [], rings = [];
      let edge = OWNER + 6, lonely = 0;
      this.circles.forEach((circle, n) => {
        const here = drawn.filter((one) => one.circle === circle.id).map((one) => ({ ...one, r: 17 + 24 * Math.sqrt(one.mentions / most), named: lines(one.name, NAME, 120, 2) }));
        if (!here.length) return;
        let inside = edge + (n ? 13 : 20);
        for (let row = []; here.length; row = []) {
          const largest = here[0].r, R = inside + largest;
          const turned = (one) => 2 * Math.asin(Math.min(0.9, this.room(one) / 2 / R));
          const free = 2 * Math.asin(Math.min(0.5, (circle.name.length * 8 + 30) / 2 / R)); // where the ring's name stands
          let left = 2 * Math.PI - free;
          while (here.length && (!row.length || left >= turned(here[0]))) { left -= turned(here[0]); row.push(here.shift()); }
          // The largest of a ring stand apart: small ones between them.
          const order = row.map((one, i) => row[i % 2 ? row.length - 1 - (i >> 1) : i >> 1]);
          const spare = Math.max(0, left) / row.length;
          const lean = order.length > 1 ? 0.5 : (0.5 + 0.382 * lonely++) % 1; // alone in their rings, all would hang below one another
          let turn = -Math.PI / 2 + free / 2;
          for (const one of order) {
            turn += turned(one) / 2 + spare * lean;
            dots.push({ ...one, x: R * Math.cos(turn), y: R * Math.sin(turn) });
            turn += turned(one) / 2 + spare * (1 - lean);
          }
          inside = R + largest + LINE * Math.max(...row.map((one) => one.named.length)) + GAP / 2;
        }
        edge = inside - GAP / 2 - 2;
        rings.unshift({ ...circle, outer: edge });
      });
      return { dots, rings, outer: edge };
    },
    card() {
      const below = this.over.y * this.k + this.y < this.height / 2;
      const y = this.over.y * this.k + this.y + (below ? 1 : -1) * (this.over.r * this.k + (below ? 26 : 10));
      const x = Math.min(this.width - 140, Math.max(140, this.over.x * this.k + this.x));
      return { left: x + "px", top: y + "px", transform: below ? "translate(-50%, 0)" : "translate(-50%, -100%)" };
    },
  },
  watch: {
    hidden() { this.$nextTick(() => this.fit()); },
  },
  methods: {
    brief: short,
    lines,
    room(one) { return Math.max(2 * one.r, ...one.named.map((line) => measure(line, NAME))) + GAP; },
    extent() {
      const r = this.laid.outer + 8;
      return { left: -r, top: -r, right: r, bottom: r };
    },
    toggle(circle) {
      const hidden = new Set(this.hidden);
      if (!hidden.delete(circle)) hidden.add(circle);
      this.hidden = hidden;
    },
    clicked(event) {
      if (this.dragged) event.preventDefault();
    },
    asked() {
      clearTimeout(this.waiting);
      this.extra = [];
      if (this.query.trim().length < 3 || this.fits.size) { this.looking = false; return; }
      this.looking = true;
      this.waiting = setTimeout(() => this.$emit("search", this.query.trim()), 350);
    },
    found(query, people) {
      if (query !== this.query.trim()) return;
      this.looking = false;
      this.extra = people;
    },
  },
};
