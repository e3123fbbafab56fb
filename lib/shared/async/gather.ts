/** Answers questions that come one by one in as few goes as it takes: what is asked during one goes into the next. One that fails fails for all in it. */
export function gather<Q, A>(most: number, answer: (questions: readonly Q[]) => Promise<readonly A[]>): (question: Q) => Promise<A> {
  let waiting: { question: Q; resolve: (answer: A) => void; reject: (error: unknown) => void }[] = [];
  let going = false;

  async function go(): Promise<void> {
    going = true;
    // Whoever asks in the same turn of the event loop is in the first go.
    await new Promise<void>((resolve) => setTimeout(resolve, 0));
    while (waiting.length > 0) {
      const now = waiting.slice(0, most);
      waiting = waiting.slice(most);
      try {
        const answers = await answer(now.map(({ question }) => question));
        now.forEach(({ resolve, reject }, at) => {
          if (at in answers) resolve(answers[at] as A);
          else reject(new Error('a question was left without an answer'));
        });
      } catch (error) {
        for (const { reject } of now) reject(error);
      }
    }
    going = false;
  }

  return (question) =>
    new Promise((resolve, reject) => {
      waiting.push({ question, resolve, reject });
      if (!going) void go();
    });
}
