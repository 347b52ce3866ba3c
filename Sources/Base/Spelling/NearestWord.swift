/// The known word that somebody who mistyped one may have meant.
public enum NearestWord {
  /// The word that takes the fewest changes, if they are few for its length; one that begins with what
  /// was typed takes none.
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

  /// How many letters have to be put in, left out, changed, or exchanged with their neighbour (the
  /// optimal string alignment distance).
  ///
  /// - Complexity: O(*n* · *m*) in the lengths.
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
