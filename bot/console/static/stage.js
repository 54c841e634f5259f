// A drawing that is moved by dragging and made larger by wheel, pinch or buttons. A mixin for Vue components whose
// template has <svg ref="svg"> with one <g :transform="moved">; `extent()` gives what is to be seen at first.
const FONT = getComputedStyle(document.body).fontFamily;
const pen = document.createElement("canvas").getContext("2d");
const known = new Map();
const SMALLEST = 0.15;
const LARGEST = 4;

// The lines of a text of this size, none wider than `width`; what is more than `most` lines ends in an ellipsis.
export function lines(text, size, width, most) {
  const key = [size, width, most, text].join(" ");
  if (known.has(key)) return known.get(key);
  pen.font = `${size}px ${FONT}`;
  const wide = (line) => pen.measureText(line).width > width;
  const fitting = (word, end) => {
    let n = word.length;
    while (n > 1 && wide(word.slice(0, n) + end)) n--;
    return word.slice(0, n);
  };
  const found = [];
  for (let word of text.slice(0, 400).split(/\s+/)) {
    const last = found[found.length - 1], longer = `${last} ${word}`;
    if (found.length && (found.length === most || !wide(longer))) found[found.length - 1] = longer;
    else {
      for (; found.length < most - 1 && wide(word); word = word.slice(found[found.length - 1].length)) found.push(fitting(word, ""));
      found.push(word);
    }
  }
  const end = found.length - 1;
  if (wide(found[end])) {
    const cut = fitting(found[end], "…"); // before the word that does not fit, if it is not the only one
    found[end] = `${(found[end][cut.length] === " " ? cut : cut.replace(/\s+\S*$/, "")).trimEnd()}…`;
  }
  known.set(key, found);
  return found;
}

export function measure(text, size) {
  pen.font = `${size}px ${FONT}`;
  return pen.measureText(text).width;
}

export default {
  data: () => ({ x: 0, y: 0, k: 1, width: 800, height: 600 }),
  computed: {
    moved() { return `translate(${this.x} ${this.y}) scale(${this.k})`; },
  },
  mounted() {
    this.pointers = new Map();
    this.touched = false;
    this.sizes = new ResizeObserver(() => {
      const box = this.$refs.svg.getBoundingClientRect();
      if (!box.width || !box.height) return; // not shown now
      this.width = box.width; this.height = box.height;
      if (!this.touched) this.fit();
    });
    this.sizes.observe(this.$refs.svg);
  },
  unmounted() { this.sizes.disconnect(); },
  methods: {
    fit() {
      const { left, top, right, bottom } = this.extent();
      const wide = Math.max(right - left, 1), high = Math.max(bottom - top, 1);
      this.k = Math.min(1.3, Math.max(SMALLEST, Math.min(this.width / wide, this.height / high)));
      this.x = this.width / 2 - (this.k * (left + right)) / 2;
      this.y = this.height / 2 - (this.k * (top + bottom)) / 2;
      this.touched = false;
    },
    zoom(by, cx = this.width / 2, cy = this.height / 2) {
      const k = Math.min(LARGEST, Math.max(SMALLEST, this.k * by));
      this.x = cx - ((cx - this.x) * k) / this.k;
      this.y = cy - ((cy - this.y) * k) / this.k;
      this.k = k;
      this.touched = true;
    },
    wheel(event) {
      event.preventDefault();
      const box = this.$refs.svg.getBoundingClientRect();
      this.zoom(Math.exp(-event.deltaY * (event.ctrlKey ? 0.01 : 0.0015)), event.clientX - box.left, event.clientY - box.top);
    },
    down(event) {
      this.pointers.set(event.pointerId, [event.clientX, event.clientY]);
      this.dragged = false;
    },
    move(event) {
      const before = this.pointers.get(event.pointerId);
      if (!before) return;
      const now = [event.clientX, event.clientY];
      if (this.pointers.size === 1) {
        if (!this.dragged && Math.hypot(now[0] - before[0], now[1] - before[1]) < 4) return;
        if (!this.dragged) this.$refs.svg.setPointerCapture(event.pointerId);
        this.x += now[0] - before[0]; this.y += now[1] - before[1];
      } else {
        const [other] = [...this.pointers].filter(([id]) => id !== event.pointerId).map(([, at]) => at);
        const apart = (at) => Math.max(10, Math.hypot(at[0] - other[0], at[1] - other[1]));
        const box = this.$refs.svg.getBoundingClientRect();
        this.zoom(apart(now) / apart(before), (now[0] + other[0]) / 2 - box.left, (now[1] + other[1]) / 2 - box.top);
      }
      this.dragged = true; this.touched = true;
      this.pointers.set(event.pointerId, now);
    },
    up(event) { this.pointers.delete(event.pointerId); },
  },
};
