page-context = Контекст
context-empty = Пока ничего не держится в уме
context-empty-text = После первых разговоров бот запоминает, кто вы, что происходит сейчас и что не закончено. Эта записка стоит перед каждым ответом.
context-latest = Версия { $version }, последняя: она стоит перед каждым ответом.
context-earlier = Версия { $version }, более ранняя.
context-rules = цитаты по правилам
context-who = Кто
context-now = Сейчас
context-threads = Не закончено
context-nothing = Ничего.
context-new = новое
context-versions = Версии
context-version = Версия { $version }
context-restored = возвращена из { $version }
context-items = { $count ->
    [one] { $count } строка
    [few] { $count } строки
   *[many] { $count } строк
}
context-shown = показана
context-look = Посмотреть
context-restore = Вернуть
context-restore-title = Вернуть версию { $version }?
context-restore-text = Она станет последней, как новая версия. Ничего не потеряется: нынешняя останется в списке.
