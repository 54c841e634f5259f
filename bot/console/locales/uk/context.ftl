page-context = Контекст
context-empty = Поки нічого не занотовано
context-empty-text = Після перших розмов бот занотовує, хто ви, що відбувається зараз і що не закінчено. Цю нотатку він читає перед кожною відповіддю.
context-latest = Версія { $version }, остання: бот читає її перед кожною відповіддю.
context-earlier = Версія { $version }, раніша.
context-rules = виписано дослівно, за правилами
context-who = Про вас
context-now = Зараз
context-threads = Не закінчено
context-nothing = Нічого.
context-new = нове
context-versions = Версії
context-version = Версія { $version }
context-restored = відновлена з версії { $version }
context-items = { $count ->
    [one] { $count } рядок
    [few] { $count } рядки
   *[many] { $count } рядків
}
context-shown = показана
context-look = Переглянути
context-restore = Відновити
context-restore-title = Відновити версію { $version }?
context-restore-text = Вона стане останньою, як нова версія. Нічого не загубиться: теперішня залишиться у списку.
