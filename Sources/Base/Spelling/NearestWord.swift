/// The search for the known word that a user may have meant when he typed an unknown one.
public enum NearestWord {
  /// Returns the word that differs least from the typed text; `nil` if even that word differs too
  /// much.
  ///
  /// The difference is the number of ``changes(from:to:)``; it is 0 for a word that begins with the
  /// typed text. The limit is a third of the typed letters, but at least one and at most three
  /// changes. For a text of fewer than two letters the result is `nil`.
  public static func among(_ words: [String], to typed: String) -> String? {
    guard typed.count > 1 else { return nil }
    let near = words.map { word in
      (word: word, changes: word.hasPrefix(typed) ? 0 : changes(from: typed, to: word))
    }
    guard let best = near.min(by: { $0.changes < $1.changes }),
      best.changes <= max(1, min(3, typed.count / 3))
    else { return nil }
    return best.word
  }

  /// Returns the least number of changes that turn one text into the other. A change inserts,
  /// deletes or replaces a letter, or exchanges two neighbours (the optimal string alignment
  /// distance).
  ///
  /// - Complexity: O(*n* · *m*), where *n* and *m* are the lengths of the two texts.
  public static func changes(from: String, to: String) -> Int {
    let (from, to) = (Array(from), Array(to))
    var before: [Int] = []
    var last = Array(0...to.count)
    for row in 0..<from.count {
      var next = [row + 1]
      for column in 0..<to.count {
        let isSame = from[row] == to[column]
        var least = min(next[column] + 1, last[column + 1] + 1, last[column] + (isSame ? 0 : 1))
        if row > 0, column > 0, from[row] == to[column - 1], from[row - 1] == to[column] {
          least = min(least, before[column - 1] + 1)
        }
        next.append(least)
      }
      (before, last) = (last, next)
    }
    return last[to.count]
  }
}
