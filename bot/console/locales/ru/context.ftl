page-context = Контекст
context-empty = Пока ничего не записано
context-empty-text = После первых разговоров бот записывает, кто вы, что происходит сейчас и что не закончено. Эту запись он читает перед каждым ответом.
context-latest = Версия { $version }, последняя: бот читает её перед каждым ответом.
context-earlier = Версия { $version }, более ранняя.
context-rules = выписано дословно, по правилам
context-who = О вас
context-now = Сейчас
context-threads = Не закончено
context-nothing = Ничего.
context-new = новое
context-versions = Версии
context-version = Версия { $version }
context-restored = восстановлена из версии { $version }
context-items = { $count ->
    [one] { $count } строка
    [few] { $count } строки
   *[many] { $count } строк
}
context-shown = показана
context-look = Посмотреть
context-restore = Восстановить
context-restore-title = Восстановить версию { $version }?
context-restore-text = Она станет последней, как новая версия. Ничего не потеряется: нынешняя останется в списке.
