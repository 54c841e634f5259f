page-today = Сьогодні
today-which = Дні
today-today = Сьогодні
today-week = Тиждень
today-empty = Нічого не заплановано
today-empty-text = Справи, дні народження, обіцянки й кому подзвонити з’являються тут самі — з того, що ти розповідаєш боту.
today-occasions = Дати
today-tasks = Справи
today-promises = Ти обіцяв
today-waiting = Ти чекаєш
today-contacts = Дати про себе знати
today-questions = Відкриті питання
today-years = { $years ->
    [one] { $years } рік
    [few] { $years } роки
   *[other] { $years } років
}
