import Spelling

/// A mistake in the words that the user typed after a command.
///
/// ``CommandProgram/run(_:)`` prints the description and exits with ``ExitStatus/usage``.
package struct UsageError: Error, CustomStringConvertible {
  /// One line that names the mistake and the accepted values, without the program's name.
  package var description: String

  package init(_ description: String) {
    self.description = description
  }
}

/// The words after a command's name: options (`--name value`, `--name=value`), flags (`--name`) and
/// positional words.
///
/// Options and positional words may be mixed in any order. If an option is given twice, the last
/// value is used. The word `--` alone is a positional word.
///
///     let type = Arguments.Option("type", "TYPE", "the record type")
///     let arguments = try Arguments(["zone", "--type", "Note"], options: [type])
///     arguments.positional        // ["zone"]
///     arguments.string("type")    // "Note"
package struct Arguments {
  /// An option or flag that a command accepts.
  package struct Option {
    /// The name without the two hyphens, such as `type`.
    package var name: String
    /// The placeholder for the value in help texts, such as `TYPE`. It is `nil` for a flag, which
    /// has no value.
    package var valueName: String?
    package var help: String
    /// The accepted values, for shell completion; empty if any value is possible. ``Arguments``
    /// does not check them.
    package var words: [String]
    /// Whether the command cannot run without this option. Help texts mark it as required; the
    /// command itself checks it.
    package var isRequired: Bool

    /// Creates an option; without a `valueName` it is a flag.
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

    /// The option as the user types it, such as `--type TYPE`.
    package var usage: String { "--\(name)" + (valueName.map { " " + $0 } ?? "") }
  }

  /// The words that are neither options nor values of options, in the order typed.
  package private(set) var positional: [String] = []
  /// The values by option name. The value of a flag is `true`.
  private var values: [String: String] = [:]
  private let known: Set<String>

  /// Parses the words after the command's name.
  ///
  /// - Throws: ``UsageError`` for an unknown option, an option without its value, or a flag with a
  ///   value. An unknown option's error names the nearest known option.
  package init(_ words: some Sequence<String>, options: [Option]) throws {
    known = Set(options.map(\.name))
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
        guard !options.isEmpty else {
          throw UsageError("unknown option --\(name); the command takes no options")
        }
        let known = options.map { "--" + $0.name }
        let near = NearestWord.among(known, to: "--" + name).map { "did you mean \($0)? " } ?? ""
        throw UsageError(
          "unknown option --\(name); \(near)the options are \(known.joined(separator: ", "))")
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

  /// Returns the only positional word. `what` is its placeholder in error messages, such as `NAME`.
  package func word(_ what: String) throws -> String {
    guard positional.count == 1, let word = positional.first, !word.isEmpty else {
      throw UsageError("needs one \(what)")
    }
    return word
  }

  /// Returns the value of an option as text, or `true` for a flag; `nil` if the option was not
  /// given.
  package func string(_ name: String) -> String? { values[name] }

  package func accepts(_ name: String) -> Bool { known.contains(name) }

  package func flag(_ name: String) -> Bool { values[name] != nil }

  /// Returns the whole number of an option; `nil` if the option was not given.
  ///
  /// - Throws: ``UsageError`` if the text is no whole number or is outside of `range`.
  package func int(_ name: String, in range: ClosedRange<Int>) throws -> Int? {
    guard let text = values[name] else { return nil }
    guard let int = Int(text), range.contains(int) else {
      throw UsageError(
        "--\(name) must be a whole number from \(range.lowerBound) to \(range.upperBound), "
          + "not '\(text)'")
    }
    return int
  }

  /// Returns the comma-separated whole numbers of an option; `nil` if the option was not given.
  ///
  /// - Throws: ``UsageError`` if a part is no whole number or is outside of `range`. Empty parts
  ///   are ignored.
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

  /// Returns the value of an option such as `90s`, `30m`, `12h`, `14d` or `2w`, in seconds; `nil`
  /// if the option was not given. The units are seconds, minutes, hours, days and weeks.
  ///
  /// - Throws: ``UsageError`` if the text is no number above 0 with one of the units.
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
