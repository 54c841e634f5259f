page-memory = Memory
memory-empty = No memories yet
memory-empty-text = Memories are made of your conversations once they have been gone through. What is used holds, what is not used fades.
memory-which = Which first
memory-weakest = Fade first
memory-strongest = Hold best
memory-list = Memories
memory-count = Memories
memory-half-life = Half-life unused
memory-days = { $days } d
memory-never = never fades
memory-weak = Below 30%
memory-forget-below = Offered for forgetting below
memory-curves = Over time
memory-curves-chart = Lines: how much is left of each of the first memories of the list, half a year back and a year ahead if nobody uses them.
memory-spread = How much is left
memory-spread-chart = Bars: how many memories are retained by how much.
memory-today = today
memory-offered = offered for forgetting
memory-left = { $share } is left
memory-since = since { $day }
memory-used = { $count ->
    [0] never used
    [one] used once
   *[other] used { $count } times
}
memory-last = last { $day }
memory-fades = fades by { $day }
memory-faded = faded since { $day }
