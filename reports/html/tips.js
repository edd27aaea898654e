// What a word means, beside it: by pointer and by keyboard. The texts are those at the end of the page.

const TIP_GAP = 6;

function setUpTips() {
  const tip = make("div", { id: "tip", role: "tooltip", hidden: "" });
  document.body.append(tip);
  let owner = null;
  const hide = () => {
    owner?.removeAttribute("aria-describedby");
    owner = null;
    tip.hidden = true;
  };
  const show = (event) => {
    const target = event.target.closest?.("[data-term]");
    if (target === owner) return;
    hide();
    const text = target && byId(`word-${target.dataset.term}`)?.querySelector("dd").textContent;
    if (!text) return;
    owner = target;
    owner.setAttribute("aria-describedby", "tip");
    tip.textContent = text;
    tip.hidden = false;
    placeTip(tip, owner.getBoundingClientRect());
  };
  document.addEventListener("mouseover", show);
  document.addEventListener("focusin", show);
  document.addEventListener("focusout", hide);
  // The browser scrolls to what gets the focus.
  const follow = () => owner && placeTip(tip, owner.getBoundingClientRect());
  addEventListener("scroll", follow, { passive: true, capture: true });
  addEventListener("keydown", (event) => {
    if (event.key === "Escape") hide();
  });
}

/** Below the word, or above it where there is no room, and within the window. */
function placeTip(tip, word) {
  const { width, height } = tip.getBoundingClientRect();
  const most = document.documentElement.clientWidth - width - TIP_GAP;
  const below = word.bottom + TIP_GAP;
  const top = below + height > innerHeight ? word.top - height - TIP_GAP : below;
  tip.style.left = `${Math.max(TIP_GAP, Math.min(word.left, most))}px`;
  tip.style.top = `${Math.max(TIP_GAP, top)}px`;
}
