page-memory = Память
memory-empty = Воспоминаний пока нет
memory-empty-text = Воспоминания складываются из ваших разговоров, когда те разобраны. Что используется — держится, что нет — тускнеет.
memory-which = Какие первыми
memory-weakest = Тускнеют первыми
memory-strongest = Держатся лучше всех
memory-list = Воспоминания
memory-count = Воспоминаний
memory-half-life = Полураспад без использования
memory-days = { $days } дн.
memory-never = не тускнеют
memory-weak = Ниже 30%
memory-forget-below = Предлагается забыть ниже
memory-curves = Со временем
memory-curves-chart = Линии: сколько осталось от первых воспоминаний списка — полгода назад и год вперёд, если их никто не использует.
memory-spread = Сколько осталось
memory-spread-chart = Столбцы: сколько воспоминаний насколько сохранилось.
memory-today = сегодня
memory-offered = предлагается забыть
memory-left = осталось { $share }
memory-since = с { $day }
memory-used = { $count ->
    [0] не использовалось
    [one] использовано { $count } раз
    [few] использовано { $count } раза
   *[many] использовано { $count } раз
}
memory-last = в последний раз { $day }
memory-fades = потускнеет: { $day }
memory-faded = потускнело: { $day }
