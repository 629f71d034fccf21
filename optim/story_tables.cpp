#include "optim/story_tables.h"

namespace gradus::optim {

const StoryTables& story_tables() {
  static const StoryTables tables = {
      {"story", {"[opening] [treasure] [tale] [ending]\n\n"}},
      {"opening",
       {"Once a [trait] and [mood] child named [hero=hero] lived [home].",
        "There was a [trait] and [mood] child named [hero=hero], who lived [home].",
        "Far away, [home], lived [hero=hero], a [trait] and [mood] child.",
        "This is the tale of [hero=hero], a [trait] child in a [odd] [colour] [clothes]."}},
      {"treasure",
       {"{hero} had a [colour=colour] [thing=thing] from a [trait] [giver].",
        "{hero.She} had found a [colour=colour] [thing=thing] [spot].",
        "Best of all, {hero.she} loved {hero.her} [colour=colour] [thing=thing].",
        "A [colour=colour] [thing=thing] and a [odd] [small] were all {hero.she} had."}},
      {"tale",
       {"One [weather] [daytime], {hero} lost the {thing} at the [odd] [place]. [search] [search] [meeting] [question] "
        "[answer] [found]",
        "On a [weather] [daytime], {hero} heard a [faint] voice [where=spot]. It was [friend=friend] the "
        "[animal=animal], afraid of a [odd] [small] and a [odd] [small]. [comfort] [way_home]",
        "Then one [weather] [daytime], [friend=friend] the [trait] [animal=animal] asked {hero} to a feast at the "
        "[odd] [place]. {hero.She} took the {thing}, a [odd] [small] and a [taste] [food=food]. [search] [welcome] "
        "[feast]"}},
      {"ending",
       {"{hero} and {friend} [played] and [played] until [dusk].",
        "From then on, {hero} and {friend} [played] every [weather] [daytime].",
        "\"You are a [trait] {animal},\" [said] {hero}, and {friend} [played].",
        "At last {hero} was [glad], and the {animal} [played]."}},

      // The lost treasure
      {"search",
       {"{hero.She} looked [spot] and [spot], but saw only a [odd] [small].",
        "{hero.She} searched [spot] and found a [odd] [small] and a [odd] [small].",
        "{hero.She} crept [spot], where a [odd] [small] met a [trait] [animal].",
        "A [odd] [small] sat [spot], but {hero.she} did not stop."}},
      {"meeting",
       {"Then {hero} met [friend=friend] the [trait] [animal=animal], who was [doing].",
        "Soon [friend=friend] the [trait] [animal=animal] came by, [doing].",
        "At the [place], [friend=friend] the [trait] [animal=animal] was [doing]."}},
      {"question",
       {"\"Have you seen my {colour} {thing}?\" [said] {hero}.", "\"My {colour} {thing} is gone!\" [said] {hero}.",
        "\"I lost my {colour} {thing},\" [said] {hero}."}},
      {"answer",
       {"\"I saw it [where=spot],\" [said] {friend}.", "\"Let us look [where=spot],\" [said] the {animal}.",
        "\"It may be [where=spot],\" [said] {friend} the {animal}."}},
      {"found",
       {"And there, {where}, was the {colour} {thing}!", "So they ran, and {where} lay the {thing}!",
        "{friend} was right: the {thing} was {where}."}},

      // The frightened friend
      {"comfort",
       {"\"Do not worry,\" [said] {hero}, and gave {friend} the {colour} {thing} and a [taste] [food].",
        "\"Come out, {friend},\" [said] {hero}, and held up the {colour} {thing} and a [odd] [small].",
        "{hero} sat down {where} too, with the {colour} {thing} and a [odd] [small]."}},
      {"way_home",
       {"Now {friend} felt [glad], and they went home past the [odd] [corner] and the [odd] [place].",
        "Side by side, {hero} and {friend} walked to the [odd] [place], [doing].",
        "Soon the {animal} felt [glad] and told {hero} about a [odd] [place] with a [odd] [corner]."}},

      // The feast
      {"welcome",
       {"\"Welcome, {hero}!\" [said] {friend}, who was [doing].", "At the feast, {friend} was [doing].",
        "There stood {friend} the {animal}, [trait] and [mood]."}},
      {"feast",
       {"They ate the {food}, and {hero} let the [trait] {animal} hold the {colour} {thing}.",
        "{friend} ate the {food}, and {hero} hung the {thing} on a [odd] [corner].",
        "\"What a [taste] {food}!\" [said] the {animal}, and gave {hero} a [odd] [small]."}},

      // Who
      {"hero",
       {"Mia/She/she/her/her", "Lily/She/she/her/her", "Rosa/She/she/her/her", "Anna/She/she/her/her",
        "Zoe/She/she/her/her", "Nora/She/she/her/her", "Ivy/She/she/her/her", "Ruth/She/she/her/her",
        "Tom/He/he/his/him", "Ben/He/he/his/him", "Max/He/he/his/him", "Leo/He/he/his/him", "Finn/He/he/his/him",
        "Hugo/He/he/his/him", "Sam/He/he/his/him", "Oscar/He/he/his/him"}},
      {"friend",
       {"Pip", "Dot", "Moss", "Fern", "Bramble", "Clover", "Hazel", "Button", "Pepper", "Juniper", "Willow", "Acorn",
        "Tuft", "Nettle", "Olive", "Puck"}},
      {"animal",
       {"mouse", "fox", "hare", "owl", "frog", "badger", "duck", "goat", "robin", "turtle", "otter", "donkey", "beaver",
        "mole", "squirrel", "cat"}},
      {"giver", {"sailor", "baker", "king", "queen", "miller", "shepherd"}},

      // Things and places
      {"thing", {"ball", "kite", "drum", "boat", "bell", "lamp", "key", "cup", "doll", "ring", "book", "flute"}},
      {"clothes", {"hat", "coat", "scarf", "belt"}},
      {"small",
       {"leaf", "snail", "feather", "beetle", "nut", "sock", "worm", "pebble", "shell", "coin", "spider", "twig",
        "button", "flower", "berry", "spoon"}},
      {"corner",
       {"stone", "log", "barrel", "bush", "cart", "tree", "gate", "fence", "bench", "wall", "tent", "ladder", "bucket",
        "stump", "wagon", "haystack"}},
      {"spot", {"[beside] the [odd] [corner]"}},
      {"beside", {"under", "behind", "beside", "near", "below", "on", "by"}},
      {"place",
       {"forest", "river", "market", "meadow", "beach", "mill", "garden", "bridge", "lake", "hill", "castle", "cave"}},
      {"home", {"by the [place]", "near the [odd] [place]", "in a [odd] [dwelling]", "behind a [odd] [corner]"}},
      {"dwelling", {"house", "tower", "hut", "tent"}},
      {"food", {"loaf", "cheese", "soup", "cake", "pie", "salad", "pudding", "tart"}},

      // How they are; each word can follow "a"
      {"trait",
       {"brave", "kind", "clever", "shy", "merry", "bold", "curious", "gentle", "polite", "patient", "cheerful",
        "lively", "wise", "careful", "friendly", "funny"}},
      {"mood", {"happy", "calm", "quiet", "sleepy", "hungry", "lonely", "lucky", "proud", "tired", "thirsty"}},
      {"glad", {"happy", "calm", "brave", "proud", "safe", "glad", "better", "strong"}},
      {"faint", {"soft", "small", "sad", "thin", "shaky", "faint", "low", "tiny"}},
      {"odd",
       {"big", "little", "round", "wet", "dusty", "mossy", "crooked", "pretty", "strange", "shiny", "frozen", "broken",
        "dark", "silent", "painted", "warm"}},
      {"colour", {"red", "blue", "green", "yellow", "silver", "golden", "white", "purple", "brown", "pink"}},
      {"taste", {"sweet", "warm", "salty", "spicy", "tiny", "fresh", "huge", "burnt"}},

      // When, and what they do
      {"weather", {"foggy", "rainy", "windy", "snowy", "cloudy", "chilly", "stormy", "mild"}},
      {"daytime", {"morning", "noon", "evening", "day", "night"}},
      {"dusk", {"bedtime", "supper", "the moon rose", "it was dark"}},
      {"said", {"said", "whispered", "called", "sang", "murmured", "shouted"}},
      {"doing",
       {"singing", "dancing", "whistling", "eating a [taste] [food]", "sweeping the [place]", "painting a [corner]",
        "looking for a [odd] [small]", "drawing a [odd] [animal]"}},
      {"played",
       {"danced", "sang", "told tales", "climbed a [odd] [corner]", "baked a [taste] [food]", "smiled", "laughed",
        "found a [odd] [small]"}},
  };
  return tables;
}

}  // namespace gradus::optim
