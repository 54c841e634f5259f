async () => {
  const voice = (window.voiceNote ||= {});
  if (voice.recorder) return voice.recorder.stop();
  let stream;
  try {
    stream = await navigator.mediaDevices.getUserMedia({ audio: true });
  } catch (error) {
    return emit(error.message);
  }
  const recorder = (voice.recorder = new MediaRecorder(stream));
  const pieces = [], began = Date.now();
  recorder.ondataavailable = (event) => pieces.push(event.data);
  recorder.onstop = async () => {
    voice.recorder = null;
    stream.getTracks().forEach((track) => track.stop());
    emit("off");
    const mime = recorder.mimeType.split(";")[0];
    const url = await new Promise((done) => {
      const reader = new FileReader();
      reader.onload = () => done(reader.result);
      reader.readAsDataURL(new Blob(pieces, { type: mime }));
    });
    const document = { name: `voice.${mime.split("/")[1]}`, content: url.split(",")[1], mime };
    const duration = Math.round((Date.now() - began) / 1000);
    const body = JSON.stringify({ media: "voice", document, duration, chat_id: CHAT });
    const sent = await fetch("/sim/users/USER/messages", {
      method: "POST", headers: { "Content-Type": "application/json" }, body,
    });
    if (!sent.ok) emit(await sent.text());
  };
  recorder.start();
  emit("on");
}
