"""English words that are names too, and words that have a capital without being names."""

from __future__ import annotations

from internal.language.text.spelling import words

ORDINARY_NAMES = words(
    """
    abby amber angel april art ash august autumn barb basil baron barry bay bea beau bell belle bill bird
    bishop blair bliss bob bond booth brandy brook brooke brown bud buck burns butler carol carter cash
    chance charity chase chip christian chuck clay cliff clover colt constance cook cooper crystal dale
    daisy dash dawn dean dee dell destiny dick dot drew duke duncan earl early echo eden ella elder ember
    english eve faith farmer fay finn fisher flora flynn ford forest forrest foster fox france francis frank
    gale gay gene ginger glen gold golden good grace grant gray green grey guy hale hall hardy harmony harp
    harper harry haven hazel heath heather heaven henry herb hill holly honor hope hunt hunter ice iris
    ivory ivy jack jade jan jasmine jasper jay jean jeans jet jewel jimmy joe john jordan joy judge june
    junior justice kay ken king kit knight kris lake lance lane lark laurel lee less lily lime link long
    lord lot love lucky lucy lynn major major mara mark marks marshal marshall martin mason max may mayor
    mercy mike miles mill miller mills mine misty moon moore moss nick nova norm oak olive opal page paige
    pain paris parish park parker parks pat patience patsy patty paz peace pearl peg penny perry peter
    pierce piper polly poppy porter potter price prince prudence queen rain ralph ran randy ray red reed
    reese rich rick river rob robin rock rod rose rosemary rowan roy royal ruby rue rush rusty ruth sage
    sally sandy saint sailor scout sean sharp sierra silver skip sky skylar smith snow sol sonny spencer
    spring star stella sterling stew stone storm sue summer sunny tab tad taylor teddy temple terry tiger
    tim timber tony trace tracy trip troy ty tyler van vera victor victory viola violet wade walker wall
    ward warren waters watt way webb well wells west white wilder will willow winter wolf wood woods woody
    wren wright york young lot gum con governor august relief experience pleasant providence deliverance
    silence trinity india arizona california philadelphia washington kingston lincoln melody mellow merry
    serena newton nelson jerry ace ally berry cam charm chick cleat conny corny dice duty falcon fanny glory gory ham
    hap hop honey harty indie jess lea left little lon mac mar marge mina minty missy mol newt nib pate pink pip pokey
    pres ren roc salmon serene si silas sly squat tabby tally tick timber tory val van vest vet vin wally win day field
    """
)
"""Names that are ordinary words in lower case or at the start of a sentence: they need a capital and a second check."""

IDEAS = words(
    """
    hope art faith joy love charity patience mercy honor justice victory peace destiny harmony heaven experience relief
    silence prudence providence deliverance pleasant trinity glory honey autumn april june summer winter spring rain
    snow storm ice sunny misty mellow melody merry lucky rich early long green gray grey black white brown red silver
    gold golden good pink little day field cash change chance dash dot echo beau page pearl pain paris park sky star
    stone wood woods water waters river hill lake moon less link lord lot major mayor mine miles duty left ham fate
    """
)
"""Ordinary names that are seldom names at the start of a sentence: something else must show that it is a person."""

FOREIGN_NAMES = words(
    """
    katarzyna malgorzata magdalena joanna zofia hanna kinga wojciech krzysztof grzegorz tomasz pawel piotr
    marcin mateusz jakub lukasz michal maciej zbigniew zuzanna ewelina beata bozena ferenc laszlo istvan zoltan
    gabor attila zsofia eszter ildiko katalin jiri vaclav zdenek jitka radka petr milos goran dragan zoran
    jovana milica bojan nikolay ulrike heike jurgen wolfgang dieter gunter uwe jens torsten sven lars bjorn
    ingrid astrid sigrid anneke joost wouter takeshi hiroshi kenji haruto yuki akira satoshi naoko yumi keiko
    sakura kazuo rajesh suresh ramesh sanjay vijay anil sunil deepak amit ravi lakshmi sunita anjali pooja
    mehmet ahmet mustafa emre burak ayse fatma zeynep elif ibrahim yusuf hassan hussein omar khalid fatima aisha
    layla noor giulia chiara giovanni luca matteo francesca paola javier alejandro carlos lucia pablo diego joao
    thiago beatriz jean-pierre mathieu guillaume aurelie celine
    """
)
"""First names of other languages as English texts write them, without accents; no English words."""

PERSONAL_VERBS = words(
    """
    said says told tells called calls asked asks texted texts phoned wrote writes replied met meets married thinks
    thought knows knew wants wanted works worked lives lived moved visited visits laughed smiled cried hates hated
    """
)
"""Verbs that follow a name only if it is a person's."""

SENTENCE_OPENERS = words(
    """
    i you he she it we they the a an my your his her its our their this that these those to there here be
    not all any some someone something no on in at of for with from me him them us do does did have has had
    should could would can if when what who where why how and or but so as by up out one more most please
    again also than then first is are am was were been
    """
)
"""Before one of these a capitalised ordinary word at the start of a sentence is no name: "Will you", "May I"."""


def opens_sentence(key: str) -> bool:
    """Whether a word, or what it is a contraction of ("you're"), makes the word before it an ordinary one."""
    return key.partition("'")[0] in SENTENCE_OPENERS


NOT_NAMES = words(
    """
    monday tuesday wednesday thursday friday saturday sunday january february march april may june july
    august september october november december christmas easter halloween thanksgiving i i'm i've i'll i'd
    ok okay yes no hi hello hey thanks thank please sorry english russian ukrainian german french spanish
    polish italian american british european chinese japanese turkish google facebook instagram telegram
    whatsapp youtube netflix amazon apple microsoft zoom slack github gitlab jira linkedin twitter tesla
    uber android iphone windows linux python java covid tv pc ceo cto cfo hr it pm ai usa uk eu ussr nasa
    kyiv kiev lviv odesa odessa kharkiv dnipro moscow petersburg minsk warsaw berlin london paris york
    angeles boston chicago amsterdam prague vienna rome madrid lisbon dublin toronto sydney tokyo ukraine
    russia belarus poland germany france spain italy england britain europe asia africa america canada china
    japan turkey israel india georgia god jesus lord mr mrs ms miss dr prof sir madam north south east west
    street avenue mom mum dad mommy daddy mother father grandma grandpa granny aunt uncle brother sister
    cousin wife husband son daughter boss manager colleague friend the a an and or but so if when what who
    where why how this that these those there here my your his her our their he she it we they you me him
    them us today tomorrow yesterday tonight now then also just maybe well actually anyway however because
    although while after before since until then still see than one kill app bat cage chat crate dutch fall fate flick
    gee hub life live mat mock nap ode wash dunk squat hop cleat vert almost
    """
)
"""Capitalised words that never begin an English name."""

GIVEN_NAMES = words(
    """
    grace priya liam noah mason ethan logan aiden oscar hugo felix otto asher ezra owen dylan wyatt hudson
    nolan ian sean evan blake kyle brandon austin marcus derek trevor shane brett connor colin craig keith
    neil graham nigel alistair callum declan ewan finlay gavin hamish angus rory stuart darren dean wayne
    dwayne tyrone jamal ava mia harper luna layla zoe riley aurora violet hazel ivy willow naomi bella
    skylar freya isla imogen poppy daisy rosie lily ruby jade amber paige brooke chelsea kelly kylie tracy
    karen beth gemma fiona siobhan niamh aoife ciara hope faith joy raj rahul amit anil arjun ananya deepak
    sanjay vikram neha pooja kiran ravi suresh anjali divya meera wei ming chen hiroshi yuki kenji mei
    carlos jose juan miguel jorge diego pedro pablo ana carmen luis javier andres sofia lucia aria mohammed
    muhammad ahmed omar fatima aisha hassan yusuf hans klaus jurgen stefan wolfgang ingrid greta heidi
    pierre marie francois antoine giovanni marco luca paolo giulia chiara anders lars sven astrid piotr
    agnieszka kasia wojtek krzysztof tomasz pawel magda bob jack frank bill joe tony mark will rose dan ben
    matt nick steve dave jeff greg pat
    """
)
"""First names that the `nicknames` package does not list as names of their own."""
