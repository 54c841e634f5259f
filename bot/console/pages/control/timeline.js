// The timeline: rows of one height, of which only those in sight exist. Older pages are asked for near the top, new events
// come at the bottom; whoever reads further up is not moved.
const ROW = 58;
const SPARE = 8;

export default {
  props: ["words", "locale", "zone", "lanes", "chosen"],
  emits: ["ready", "earlier", "choose", "hide", "follow"],
  template: `
    <div class="timeline">
      <div class="lanes">
        <div class="lanes-list" role="group" :aria-label="words.lanes">
        <button v-for="lane in lanes" :key="lane.id" type="button" :class="['lane', lane.tone]" :aria-pressed="String(!lane.hidden)"
                @click="$emit('hide', lane.id)">
          <span class="lane-dot"></span>{{ lane.name }}
        </button>
        </div>
        <button type="button" class="follow" :aria-pressed="String(following)" @click="setFollowing(!following)">
          <span class="material-icons" aria-hidden="true">{{ following ? "pause" : "play_arrow" }}</span>
          {{ following ? words.pause : words.follow }}<b v-if="fresh" class="fresh">{{ fresh }}</b>
        </button>
      </div>
      <div ref="scroller" class="events" tabindex="0" role="listbox" :aria-label="words.timeline" :aria-activedescendant="active"
           @scroll.passive="scrolled" @keydown="key">
        <div v-if="!rows.length" class="events-empty" role="presentation">{{ loading ? words.loading : words.nothing }}</div>
        <div class="events-space" role="presentation" :style="{ height: rows.length * ${ROW} + 'px' }">
          <svg class="strands" aria-hidden="true" :style="{ top: first * ${ROW} + 'px', height: shown.length * ${ROW} + 'px' }" :width="lanes.length * gap + 12">
            <line v-for="(lane, n) in lanes" :key="lane.id" :class="['strand', lane.tone]" :x1="n * gap + 14" :x2="n * gap + 14" y1="0" :y2="shown.length * ${ROW}" />
          </svg>
          <div v-for="(row, n) in shown" :key="row.place" :id="'event-' + row.place" role="option" :aria-selected="String(row.id === chosen)"
               :class="['event', toneOf(row), { chosen: row.id === chosen, linked: linked.has(row.id) }]"
               :style="{ top: (first + n) * ${ROW} + 'px', '--strands': lanes.length * gap + 'px' }" @click="choose(first + n)">
            <span class="event-dot" :style="{ left: laneOf(row) * gap + 8 + 'px' }"></span>
            <div class="event-words">
              <div class="event-head"><b>{{ row.title }}</b><span v-if="row.text" class="event-who">{{ row.who }}</span><time>{{ clock(row.timestamp) }}</time></div>
              <div class="event-text"><template v-if="row.text">{{ row.text }}</template><span v-else class="event-who">{{ row.who }}</span></div>
            </div>
          </div>
        </div>
      </div>
    </div>`,
  data: () => ({ rows: [], first: 0, count: 0, following: true, fresh: 0, loading: true, whole: false, linked: new Set(), asked: false, gap: 16 }),
  computed: {
    shown() { return this.rows.slice(this.first, this.first + this.count); },
    active() {
      const row = this.rows.find((one) => one.id === this.chosen);
      return row ? `event-${row.place}` : undefined;
    },
    format() { return new Intl.DateTimeFormat(this.locale, { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23", timeZone: this.zone }); },
    days() { return new Intl.DateTimeFormat(this.locale, { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", hourCycle: "h23", timeZone: this.zone }); },
    places() { return new Map(this.lanes.map((lane, n) => [lane.id, n])); },
  },
  mounted() {
    this.watcher = new ResizeObserver(() => this.measure());
    this.watcher.observe(this.$refs.scroller);
    this.$emit("ready");
  },
  unmounted() { this.watcher.disconnect(); },
  methods: {
    // What the page tells
    reset(rows, whole) {
      this.rows = Object.freeze(rows);
      this.whole = whole; this.loading = false; this.asked = false; this.fresh = 0;
      this.toEnd();
    },
    older(rows, whole) {
      const scroller = this.$refs.scroller;
      this.rows = Object.freeze([...rows, ...this.rows]);
      this.whole = whole; this.asked = false;
      this.$nextTick(() => { scroller.scrollTop += rows.length * ROW; this.measure(); });
    },
    arrived(rows) {
      // Where several workers write, an event may come after one of a later place.
      const last = this.rows.length ? this.rows[this.rows.length - 1].place : -1;
      const late = rows.some((row) => row.place <= last);
      const known = new Set(late ? this.rows.map((row) => row.place) : []);
      const added = rows.filter((row) => !known.has(row.place));
      if (!added.length) return;
      this.rows = Object.freeze([...this.rows, ...added].sort((one, other) => one.place - other.place));
      if (this.following) this.toEnd();
      else { this.fresh += added.length; this.measure(); }
    },
    link(ids) { this.linked = new Set(ids); },
    reveal(id) {
      const n = this.rows.findIndex((row) => row.id === id);
      if (n < 0) return;
      const scroller = this.$refs.scroller;
      if (n * ROW < scroller.scrollTop || (n + 1) * ROW > scroller.scrollTop + scroller.clientHeight) {
        this.following = false;
        scroller.scrollTop = n * ROW - scroller.clientHeight / 2;
      }
    },

    // What the reader does
    scrolled() {
      const scroller = this.$refs.scroller;
      const atEnd = scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight < ROW / 2;
      if (atEnd && !this.following) this.setFollowing(true);
      else if (!atEnd && this.following && scroller.scrollTop < this.lastTop) this.setFollowing(false);
      this.lastTop = scroller.scrollTop;
      this.measure();
    },
    setFollowing(on) {
      this.following = on;
      if (on) { this.fresh = 0; this.toEnd(); }
      this.$emit("follow", on);
    },
    choose(n) {
      const row = this.rows[n];
      if (row) this.$emit("choose", row.id);
    },
    key(event) {
      const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10 }[event.key];
      const here = this.rows.findIndex((row) => row.id === this.chosen);
      let next = here < 0 ? this.rows.length - 1 : here + (step || 0);
      if (event.key === "Home") next = 0;
      else if (event.key === "End") next = this.rows.length - 1;
      else if (!step) return;
      event.preventDefault();
      next = Math.max(0, Math.min(this.rows.length - 1, next));
      this.choose(next);
      if (this.rows[next]) this.reveal(this.rows[next].id);
    },

    // What is in sight
    measure() {
      const scroller = this.$refs.scroller;
      if (!scroller) return;
      this.gap = scroller.clientWidth < 480 ? 8 : 16;
      this.first = Math.max(0, Math.floor(scroller.scrollTop / ROW) - SPARE);
      this.count = Math.ceil(scroller.clientHeight / ROW) + 2 * SPARE;
      if (scroller.scrollTop < 20 * ROW && !this.whole && !this.asked && this.rows.length) {
        this.asked = true;
        this.$emit("earlier", this.rows[0].place);
      }
    },
    toEnd() {
      this.$nextTick(() => {
        const scroller = this.$refs.scroller;
        if (!scroller) return;
        scroller.scrollTop = scroller.scrollHeight;
        this.lastTop = scroller.scrollTop;
        this.measure();
      });
    },
    laneOf(row) { return this.places.get(row.lane) ?? this.lanes.length - 1; },
    toneOf(row) { return this.lanes[this.laneOf(row)]?.tone; },
    clock(timestamp) {
      const at = new Date(timestamp);
      return (Date.now() - at < 20 * 3600 * 1000 ? this.format : this.days).format(at);
    },
  },
};
