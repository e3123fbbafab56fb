/* The page's own theme, and that of its cards: they are told, and do not load again. */
const choice = document.querySelector('select');
const apply = () => {
  document.documentElement.dataset.theme = choice.value;
  for (const card of document.querySelectorAll('outbox-card')) card.setAttribute('theme', choice.value);
};
choice.value = localStorage.getItem('theme') ?? 'auto';
choice.addEventListener('change', () => {
  localStorage.setItem('theme', choice.value);
  apply();
});
apply();
