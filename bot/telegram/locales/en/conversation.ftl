# First meeting, help, and what the bot answers by itself, without a model. The program escapes words put in.

greeting =
    Hi { $name }! I'm { $persona }, a companion who remembers.
    Tell me about people and plans in your own words: I'll work out who is who, remember it, and remind you when you ask.
    You can look at, correct or erase everything I remember: /help shows how.
greeting-again = Welcome back, { $name }! I'm here and I remember everything. Commands are in /help.
greeting-owner = The code is right: this bot is yours now. Use /access to let others in.
owner-code-bad = This code is wrong or has already been used. While the bot has no owner, a new one is printed each time it starts.

stranger = Hi! This is a private bot, and I only answer people its owner has invited.
works-in-private = I only work in private messages: write to me there.

help =
    __Just write to me__ in plain words. When the conversation pauses, I go through it and remember who and what you talked about.

    __People__
    /people — everyone I know, by circle
    /person Name — all about one person; you can correct it right there
    /map — who is what to whom around you, as a picture
    You can also send a contact or forward a message, and I'll remember who it is.

    __Facts__
    /facts Name — what I know for certain, with dates and sources; without a name, about you
    /why — what my answer is based on (best as a reply to it)
    /asof 2023 question — how things were at that time
    /correct — correct what an answer is based on

    __Goals and decisions__
    /goals — what you want to achieve
    /decisions — what you decided and why
    /questions — questions without an answer
    /preferences — your likes and dislikes
    /instructions — what I always keep to: how to answer, what never to do
    /memories words — what else I remember

    __Memory__
    /tasks — what you have to do; /tasks add buy bread tomorrow at 9
    /today, /week — tasks, occasions, promises, whom to call
    /brief Anna — what to know before you meet somebody
    /digest 8:00 — an overview every morning
    /birthdays — birthdays and other occasions, also for your calendar
    /sessions — our conversations, word for word
    /db question — start a new conversation
    /sa words — continue this one
    /ss — close this one; I sum it up
    /archive — go through the conversation now, without waiting for a pause
    /console — look at everything in the browser
    /status — what I'm working on
    /files — files you sent
    /forget — forget a person, or everything
    /undo — take a change back
    /export — download everything I keep
    /privacy — what is kept and who sees it

    __Settings__
    /settings — what can be set
    /language — language
    /team — teams: I let people know what you promise to do for them
    /timezone — time zone
    /quiet — when I shouldn't disturb you
    /share — show something to a group
    /shared — what was shared where
    /more — all other commands
    /cancel — skip the question I asked
help-owner =
    /access — who is let in (only you can see this)
    /groups — groups in which I work

unknown-command = I have no { $command } command. They are all in /help.
cancelled = Fine, forget my question. Just write as usual.
cancelled-nothing = I hadn't asked anything. Just go on writing.

cannot-read = { $kind ->
    [voice] I can't listen to voice messages yet. Could you put it in words?
    [audio] I can't listen to audio yet. Could you put it in words?
    [video] I can't watch videos yet. Could you describe it in words?
    [video_note] I can't watch video messages yet. Could you describe it in words?
    [photo] I can't look at photos yet. Could you tell me what's in it?
    [sticker] I see a sticker, but I can't read them yet. How would you say it in words?
    [animation] I can't watch GIFs yet. How would you say it in words?
    [document] I can't open files yet. Could you send the main part as text?
    [location] I can't read maps yet. Could you tell me where it is?
   *[other] I can't make sense of messages like this yet. Could you put it in words?
}

artifact-kept = { $pages ->
    [0] 📄 I've read and kept { $name }. Ask me about it any time.
    [one] 📄 I've read and kept { $name }, one page. Ask me about it any time.
   *[other] 📄 I've read and kept { $name }, { $pages } pages. Ask me about it any time.
}
files-none = You haven't sent me any files yet. PDF, Word, Excel, PowerPoint, e-books, web pages and plain text are read and remembered.
files-title = { $count ->
    [one] **One file**
   *[other] **{ $count } files**
}
files-line = { $pages ->
    [0] { $name } · { $date } · { $size } KB
    [one] { $name } · { $date } · one page · { $size } KB
   *[other] { $name } · { $date } · { $pages } pages · { $size } KB
}
files-button-forget = 🗑 Forget
files-button-back = « All files
files-forget-confirm = Forget { $name }, its text and what I know only from it?
files-forgotten = { $name } is out of my sight, and will be erased in { $minutes } minutes.
artifact-export = 📥 { $name } is an export of conversations. The button above takes them into my memory, each once.
export-offer = 📥 { $name }: conversations from { $format }. Shall I take them into my memory?
export-button = Import
export-importing = I'm reading it. That may take a while.
export-imported = { $count ->
    [0] 📥 Everything in it was known already.
   *[other] 📥 Imported: { $count } messages. I'll read through them in the background.
}
export-failed = 📥 { $name } couldn't be imported: it can't be read as an export.
artifact-failed = { $reason ->
    [large] 📄 { $name } is too large for me.
    [long] 📄 { $name } is longer than I may read: I know its first pages, not the last ones.
    [slow] 📄 Reading { $name } took too long, so I gave up.
    [encrypted] 📄 { $name } is locked with a password. Could you send it without one?
    [empty] 📄 I found no text in { $name }. If it is a scan, a photo of the page may work better.
    [unknown] 📄 I don't know how to read { $name }. PDF, Word, Excel, PowerPoint, e-books, web pages and plain text work.
    [gone] 📄 Telegram doesn't give me { $name } any more. Could you send it again?
    [unavailable] 📄 I couldn't get { $name } just now. Could you send it again a little later?
   *[damaged] 📄 { $name } seems to be damaged: I can't open it.
}

artifact-progress = 🎙 Listening: part { $part } of { $parts } …
voice-failed = { $reason ->
    [large] 🎙 This recording is too large for me. A shorter one will work.
    [slow] 🎙 Listening took too long, so I gave up. Could you say it in shorter pieces, or write it?
    [empty] 🎙 I hear no words in this recording. Could you say it again, or write it?
    [refused] 🎙 The service that writes down speech doesn't take this recording. Could you write it?
    [gone] 🎙 Telegram doesn't give me this recording any more. Could you send it again?
    [unavailable] 🎙 I can't listen right now: the service that writes down speech doesn't answer. I'll try again by myself; write it if it can't wait.
   *[damaged] 🎙 This recording seems to be damaged: I can't open it.
}
photo-failed = { $reason ->
    [unseen] 🖼 I can't look at pictures here; at most I read the words in them, and found none. Could you tell me what's in it?
    [large] 🖼 This picture is too large for me.
    [slow] 🖼 Looking at the picture took too long, so I gave up.
    [gone] 🖼 Telegram doesn't give me this picture any more. Could you send it again?
    [unavailable] 🖼 I couldn't get the picture just now. Could you send it again a little later?
   *[damaged] 🖼 This picture seems to be damaged: I can't open it.
}
photo-words = 🖼 I can't look at pictures here, but these words stand in it: “{ $words }”.
cannot-read-setting = (This is switched on by the setting { $setting }.)
speech-failed = 🔊 I couldn't say it aloud: the speech service doesn't answer. Above is what I wanted to say.
listen-again = 🔁 Listen again
listening-again = I'm listening to it once more.
transcript-correct = ✏️ Correct
transcript-how = Write how it should read. Your next message takes the place of the transcript.
transcript-corrected = Corrected.
transcript-gone = This message isn't there any more.

too-fast = I can't keep up: I read at most { $limit } { $limit ->
    [one] message
   *[other] messages
} a minute. Give me { $seconds } { $seconds ->
    [one] second
   *[other] seconds
} and we'll go on.
daily-cost-reached = I've used up my budget for today (${ NUMBER($limit, minimumFractionDigits: 2, maximumFractionDigits: 2) }). I'll answer again after midnight, and nothing you write now is lost.
kept-back = 🔒 Left out as private: { $topics }. If it should be in, name it in the order itself.
kept-back-topic = { $topic ->
    [health] health
    [money] money
    [legal] law
    [intimate] personal life
   *[secret] secrets
}
answer-failed = I couldn't answer: something went wrong on my side. Your message is saved; please try again.
answer-refused = The model declined to answer this. Putting it differently may help; your message is saved.
answer-too-long = This is too long for the model. Send it in parts; your message is saved.
model-unreachable = I can't reach the language model right now. Your message is saved; please try again a little later.
model-silent = The language model takes too long to begin an answer. Your message is saved; please ask again a little later.
model-denied = The language model is refusing my requests right now, and only the bot's owner can fix that. Your message is saved.
model-denied-owner = The language model is refusing my requests: the key is wrong or the credit is used up. Check `llm.api_key` and your account with the provider. Your message is saved.
model-unknown-owner = The language model's server doesn't know the model that is set for me. Check `llm.model`, or the names under `agents`; /status repeats what it said. Your message is saved.

button-stale = This button no longer works.
button-not-yours = This button isn't for you.
button-cancel = Cancel
kept = All right, nothing changes.
button-back = « Back
not-found = It's not there any more — something may have changed in the meantime.
conflict = Something changed here in the meantime. Open it again and try once more.
refused-other = That can't be done.

# Under the field where somebody types after the bot's name in any chat; at most 64 characters.
inline-hint = Search your memory: a name, a thing, words of a message
inline-nothing = Nothing found. Ask me in our chat
