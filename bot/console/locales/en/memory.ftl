page-memory = Memory
memory-empty = No memories yet
memory-empty-text = The bot draws memories from your conversations once it has processed them. The ones it uses last; the others fade.
memory-which = Order
memory-weakest = Fading soonest
memory-strongest = Lasting longest
memory-list = Memories
memory-count = Memories
memory-half-life = Fades by half if not used
memory-days = { $days } days
memory-never = never fades
memory-weak = Below 30%
memory-forget-below = Suggested for forgetting below
memory-curves = Over time
memory-curves-chart = Lines: how much is left of the first memories in the list, from half a year ago to a year ahead if they are not used.
memory-spread = How much is left
memory-spread-chart = Bars: how many memories have how much left.
memory-today = today
memory-offered = below { $share }, suggested for forgetting
memory-left = { $share } left
memory-since = since { $day }
memory-used = { $count ->
    [0] never used
    [one] used once
   *[other] used { $count } times
}
memory-last = last used { $day }
memory-fades = will have faded by { $day }
memory-faded = faded { $day }
