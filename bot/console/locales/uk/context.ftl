page-context = Контекст
context-empty = Поки нічого не тримається в пам'яті
context-empty-text = Після перших розмов бот занотовує, хто ви, що відбувається зараз і що не закінчено. Ця нотатка стоїть перед кожною відповіддю.
context-latest = Версія { $version }, остання: вона стоїть перед кожною відповіддю.
context-earlier = Версія { $version }, раніша.
context-rules = цитати за правилами
context-who = Хто
context-now = Зараз
context-threads = Не закінчено
context-nothing = Нічого.
context-new = нове
context-versions = Версії
context-version = Версія { $version }
context-restored = повернена з { $version }
context-items = { $count ->
    [one] { $count } рядок
    [few] { $count } рядки
   *[many] { $count } рядків
}
context-shown = показана
context-look = Подивитися
context-restore = Повернути
context-restore-title = Повернути версію { $version }?
context-restore-text = Вона стане останньою, як нова версія. Нічого не загубиться: теперішня залишиться у списку.
