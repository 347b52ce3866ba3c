import Spelling

/// A mistake in the words of a command.
package struct UsageError: Error, CustomStringConvertible {
  package var description: String

  package init(_ description: String) {
    self.description = description
  }
}

/// The words after a command: options (`--name value`, `--name=value`), flags (`--name`) and the
/// rest, in order.
package struct Arguments {
  /// An option or flag that a command knows.
  package struct Option {
    package var name: String
    /// What its value is called in the help; nil for a flag.
    package var valueName: String?
    package var help: String
    /// What its value may be, where that is one of some words.
    package var words: [String]
    /// Whether the command does nothing without it.
    package var isRequired: Bool

    package init(
      _ name: String, _ valueName: String?, _ help: String, words: [String] = [],
      isRequired: Bool = false
    ) {
      self.name = name
      self.valueName = valueName
      self.help = help
      self.words = words
      self.isRequired = isRequired
    }

    /// As it is typed, such as `--type TYPE`.
    package var usage: String { "--\(name)" + (valueName.map { " " + $0 } ?? "") }
  }

  package private(set) var positional: [String] = []
  private var values: [String: String] = [:]

  /// - Throws: ``UsageError`` naming the word that is not understood.
  package init(_ words: some Sequence<String>, options: [Option]) throws {
    var rest = Array(words)[...]
    while let word = rest.popFirst() {
      guard word.hasPrefix("--"), word != "--" else {
        positional.append(word)
        continue
      }
      let parts = word.dropFirst(2).split(
        separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let name = String(parts[0])
      guard let option = options.first(where: { $0.name == name }) else {
        guard !options.isEmpty else { throw UsageError("unknown option --\(name); it takes none") }
        let known = options.map { "--" + $0.name }
        let near = NearestWord.among(known, to: "--" + name).map { "did you mean \($0)? " } ?? ""
        throw UsageError(
          "unknown option --\(name); \(near)known are \(known.joined(separator: ", "))")
      }
      if parts.count == 2 {
        guard option.valueName != nil else { throw UsageError("--\(name) takes no value") }
        values[name] = String(parts[1])
      } else if option.valueName == nil {
        values[name] = "true"
      } else {
        guard let value = rest.popFirst() else { throw UsageError("--\(name) needs a value") }
        values[name] = value
      }
    }
  }

  /// The one word after the command.
  ///
  /// - Parameter what: says what it is, such as `NAME`.
  /// - Throws: ``UsageError`` when there is none, or more than one.
  package func word(_ what: String) throws -> String {
    guard positional.count == 1, let word = positional.first, !word.isEmpty else {
      throw UsageError("needs one \(what)")
    }
    return word
  }

  package func string(_ name: String) -> String? { values[name] }

  package func flag(_ name: String) -> Bool { values[name] != nil }

  package func int(_ name: String, in range: ClosedRange<Int>) throws -> Int? {
    guard let text = values[name] else { return nil }
    guard let int = Int(text), range.contains(int) else {
      throw UsageError(
        "--\(name) must be a whole number from \(range.lowerBound) to \(range.upperBound), "
          + "not '\(text)'")
    }
    return int
  }

  /// A list of numbers that are separated by commas.
  package func ints(_ name: String, in range: ClosedRange<Int>) throws -> [Int]? {
    guard let text = values[name] else { return nil }
    return try text.split(separator: ",").map { part in
      guard let int = Int(part), range.contains(int) else {
        throw UsageError(
          "--\(name) must be whole numbers from \(range.lowerBound) to \(range.upperBound) "
            + "separated by commas, not '\(text)'")
      }
      return int
    }
  }

  /// A length of time such as `90s`, `30m`, `12h`, `14d` or `2w`, in seconds.
  package func duration(_ name: String) throws -> Double? {
    guard let text = values[name] else { return nil }
    let units: [Character: Double] = ["s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800]
    guard let unit = text.last.flatMap({ units[$0] }), let count = Double(text.dropLast()),
      count > 0
    else {
      throw UsageError("--\(name) must be a time such as 90s, 30m, 12h, 14d or 2w, not '\(text)'")
    }
    return count * unit
  }
}
