summary = { $count ->
    [0] the assistant said nothing.
    [one] one answer, { $wrong ->
        [0] no complaint.
       *[other] the owner was not satisfied with it.
    }
   *[other] { $count } answers, { $wrong ->
        [0] no complaint.
        [one] the owner was not satisfied with one.
       *[other] the owner was not satisfied with { $wrong }.
    }
}
error-corrected = The owner said that this is not so.
error-said-before = The owner had said this before.
error-repeated = The owner had to ask again.
error-unclear = The owner did not understand the answer.
error-language = The language was not the one the owner wanted.
error-shorter = The answer was too long for the owner.
error-longer = The answer was too short for the owner.
lesson-corrected = The owner has corrected such answers: rather say plainly what is not certain.
lesson-corrected-about = Answers about { $subject } were corrected: there, rather say plainly what is not certain.
lesson-said-before = Before answering, look through what the owner has said already.
lesson-said-before-about = Before answering about { $subject }, look through what the owner has said already.
lesson-repeated = Answer first what was asked, then the rest.
lesson-repeated-about = Asked about { $subject }, answer that first, then the rest.
lesson-unclear = Say it in plainer words, with an example.
lesson-unclear-about = Say it in plainer words, with an example, when it is about { $subject }.
lesson-language = Answer in the language the owner asks for.
lesson-shorter = Answer more briefly.
lesson-longer = Answer in more detail.
