page-memory = Пам’ять
memory-empty = Спогадів поки немає
memory-empty-text = Спогади бот бере з ваших розмов, коли опрацює їх. Ті, якими він користується, зберігаються, решта тьмяніє.
memory-which = Порядок
memory-weakest = Спершу ті, що тьмяніють
memory-strongest = Спершу стійкі
memory-list = Спогади
memory-count = Спогадів
memory-half-life = Без використання тьмяніє наполовину
memory-days = { $days } дн.
memory-never = не тьмяніють
memory-weak = Нижче 30%
memory-forget-below = Нижче цього бот запропонує забути
memory-curves = З часом
memory-curves-chart = Лінії: скільки лишилося від перших спогадів списку — від пів року тому до року наперед, якщо ними не користуватися.
memory-spread = Скільки лишилося
memory-spread-chart = Стовпчики: скільки спогадів якою мірою збереглося.
memory-today = сьогодні
memory-offered = нижче { $share } бот запропонує забути
memory-left = лишилося { $share }
memory-since = з { $day }
memory-used = { $count ->
    [0] не використано
    [one] використано { $count } раз
    [few] використано { $count } рази
   *[many] використано { $count } разів
}
memory-last = востаннє { $day }
memory-fades = потьмяніє: { $day }
memory-faded = потьмяніло: { $day }
