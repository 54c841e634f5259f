page-memory = Пам'ять
memory-empty = Спогадів поки немає
memory-empty-text = Спогади складаються з ваших розмов, коли їх опрацьовано. Що використовується — тримається, що ні — тьмяніє.
memory-which = Які першими
memory-weakest = Тьмяніють першими
memory-strongest = Тримаються найкраще
memory-list = Спогади
memory-count = Спогадів
memory-half-life = Напіврозпад без використання
memory-days = { $days } дн.
memory-never = не тьмяніють
memory-weak = Нижче 30%
memory-forget-below = Пропонується забути нижче
memory-curves = З часом
memory-curves-chart = Лінії: скільки лишилося від перших спогадів списку — пів року тому й рік наперед, якщо ними ніхто не користується.
memory-spread = Скільки лишилося
memory-spread-chart = Стовпчики: скільки спогадів наскільки збереглося.
memory-today = сьогодні
memory-offered = пропонується забути
memory-left = лишилося { $share }
memory-since = з { $day }
memory-used = { $count ->
    [0] не використовувався
    [one] використано { $count } раз
    [few] використано { $count } рази
   *[many] використано { $count } разів
}
memory-last = востаннє { $day }
memory-fades = потьмяніє: { $day }
memory-faded = потьмянів: { $day }
