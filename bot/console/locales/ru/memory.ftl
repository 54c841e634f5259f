page-memory = Память
memory-empty = Воспоминаний пока нет
memory-empty-text = Воспоминания бот извлекает из ваших разговоров, когда разберёт их. Те, которыми он пользуется, сохраняются, остальные тускнеют.
memory-which = Порядок
memory-weakest = Сначала тускнеющие
memory-strongest = Сначала стойкие
memory-list = Воспоминания
memory-count = Воспоминаний
memory-half-life = Без использования тускнеет наполовину
memory-days = { $days } дн.
memory-never = не тускнеют
memory-weak = Ниже 30%
memory-forget-below = Ниже этого бот предложит забыть
memory-curves = Со временем
memory-curves-chart = Линии: сколько осталось от первых воспоминаний списка — от полугода назад до года вперёд, если ими не пользоваться.
memory-spread = Сколько осталось
memory-spread-chart = Столбцы: сколько воспоминаний в какой мере сохранилось.
memory-today = сегодня
memory-offered = ниже { $share } бот предложит забыть
memory-left = осталось { $share }
memory-since = с { $day }
memory-used = { $count ->
    [0] не использовано
    [one] использовано { $count } раз
    [few] использовано { $count } раза
   *[many] использовано { $count } раз
}
memory-last = последний раз { $day }
memory-fades = потускнеет: { $day }
memory-faded = потускнело: { $day }
