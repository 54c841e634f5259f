page-today = Сьогодні
today-which = Дні
today-today = Сьогодні
today-week = Тиждень
today-empty = Нічого не заплановано
today-empty-text = Справи, дні народження, обіцянки й кому подзвонити з’являються тут самі — з того, що ти розповідаєш боту.
today-occasions = Дати
today-tasks = Справи
today-promises = Твої обіцянки
today-waiting = Ти чекаєш
today-contacts = Дати про себе знати
today-questions = Відкриті питання
today-years = { $years ->
    [one] { $years } рік
    [few] { $years } роки
   *[other] { $years } років
}
today-reflections = Що помітно останнім часом
today-dismiss = Прибрати
today-met = { $subject }: ви були на зв'язку { $count ->
    [one] { $count } день
    [few] { $count } дні
   *[other] { $count } днів
} з останніх 30.
today-quiet = { $subject }: за останні 30 днів ні зустрічі, ні розмови в розповідях. За два місяці до того — днів: { $count }.
today-matter = { $count ->
    [one] { $count } людина говорила
    [few] { $count } людини говорили
   *[other] { $count } людей говорили
} про «{ $subject }»: { $names }.
today-change = Змінилося: { $subject }. Раніше: { $before }.
today-new = Нове ім'я у твоїх розповідях: { $subject }, { $count ->
    [one] { $count } день
    [few] { $count } дні
   *[other] { $count } днів
}.
