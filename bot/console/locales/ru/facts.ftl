page-facts = Факты
records-cancel = Отмена
records-save = Сохранить
facts-search = Поиск по фактам
facts-which = Какие факты
facts-current = Верны сейчас
facts-ended = Закончились
facts-all = Все версии
facts-count = { $count ->
    [one] { $count } факт, последние узнанные — первыми
    [few] { $count } факта, последние узнанные — первыми
   *[many] { $count } фактов, последние узнанные — первыми
}
facts-found = { $count ->
    [one] Найден { $count } факт, лучшие — первыми
    [few] Найдено { $count } факта, лучшие — первыми
   *[many] Найдено { $count } фактов, лучшие — первыми
}
facts-empty = Здесь нет фактов
facts-empty-text = Факты находятся в том, что вы рассказываете боту, когда разговор разобран. Поговорите с ним или выберите другой список выше.
fact-replaced = старая версия
fact-until = до { $day }
fact-corrected = исправлен
fact-receipts = { $count ->
    [0] без источника
    [one] { $count } источник
    [few] { $count } источника
   *[many] { $count } источников
}
fact-heard = Где это было сказано
fact-unheard = Дословно этого никто не говорил: так установил владелец.
fact-open = Открыть
fact-history = История
fact-why = Почему: { $reason }
fact-correct = Исправить
fact-correct-title = Исправить факт
fact-correct-text = Старая версия останется в истории. То, что установили вы сами, модели не меняют.
fact-words = Как на самом деле
fact-reason = Почему (сохранится вместе с фактом)
fact-corrected-now = Исправлено
