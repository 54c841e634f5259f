page-facts = Факти
records-cancel = Скасувати
records-save = Зберегти
facts-search = Пошук у фактах
facts-which = Які факти
facts-current = Правдиві зараз
facts-ended = Закінчилися
facts-all = Усі версії
facts-count = { $count ->
    [one] { $count } факт, останні дізнані — першими
    [few] { $count } факти, останні дізнані — першими
   *[many] { $count } фактів, останні дізнані — першими
}
facts-found = { $count ->
    [one] Знайдено { $count } факт, найкращі — першими
    [few] Знайдено { $count } факти, найкращі — першими
   *[many] Знайдено { $count } фактів, найкращі — першими
}
facts-empty = Тут немає фактів
facts-empty-text = Факти знаходяться в тому, що ви розповідаєте боту, коли розмову опрацьовано. Поговоріть із ним або оберіть інший список угорі.
fact-replaced = стара версія
fact-until = до { $day }
fact-corrected = виправлено
fact-receipts = { $count ->
    [0] без джерела
    [one] { $count } джерело
    [few] { $count } джерела
   *[many] { $count } джерел
}
fact-heard = Де це було сказано
fact-unheard = Дослівно цього ніхто не казав: так встановив власник.
fact-open = Відкрити
fact-history = Історія
fact-why = Чому: { $reason }
fact-correct = Виправити
fact-correct-title = Виправити факт
fact-correct-text = Стара версія залишиться в історії. Того, що встановили ви самі, моделі не змінюють.
fact-words = Як насправді
fact-reason = Чому (збережеться разом із фактом)
fact-corrected-now = Виправлено
