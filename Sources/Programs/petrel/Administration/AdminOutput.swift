import CommandInterface
import JSONCoding

/// The output of a command that is made from an endpoint.
enum AdminOutput: Sendable {
  /// Pages of rows, as a table.
  case pages(Listing)
  /// The items in a list of the answer, one for each operand. An item may be a failure, which makes
  /// the exit status 1.
  ///
  /// - Parameters:
  ///   - isJSONLines: Whether `--json` prints each item instead of the whole answer.
  ///   - lines: Returns the lines for an item that is no failure.
  case items(
    _ member: String, noun: String, isJSONLines: Bool = false,
    _ lines: @Sendable (_ word: String, _ item: JSONValue) -> [String])
  /// The answer as lines for people, and the exit status that the answer means. With `--json`, the
  /// command prints the whole answer.
  case judged(_ status: @Sendable (_ answer: JSONValue) -> Int32, Lines)

  typealias Lines = @Sendable (_ answer: JSONValue, _ arguments: Arguments) -> [String]

  /// The answer as lines for people.
  static func lines(_ lines: @escaping Lines) -> AdminOutput {
    .judged({ _ in ExitStatus.done }, lines)
  }

  /// No output without `--json`.
  static let nothing = AdminOutput.lines { _, _ in [] }

  static func member(_ name: String) -> AdminOutput { .lines { answer, _ in [answer.text(name)] } }

  static func table(_ member: String, _ columns: [Table.Column], emptiness: String) -> AdminOutput {
    .lines { answer, _ in
      let rows = answer[member]?.array ?? []
      return rows.isEmpty ? [emptiness] : Table.lines(columns, rows)
    }
  }

  /// - Parameter call: Makes the request; the parameter has further arguments of the request, such
  ///   as those of a page.
  func show(
    _ arguments: Arguments, _ call: ([String: JSONValue]) async throws -> JSONValue
  ) async throws -> Int32 {
    let isJSON = arguments.flag("json")
    switch self {
    case .pages(let listing):
      try await listing.show(arguments, call)
      return ExitStatus.done
    case .judged(let status, let lines):
      let answer = try await call([:])
      isJSON ? Output.json(answer) : Self.print(lines(answer, arguments))
      return status(answer)
    case .items(let member, let noun, let isJSONLines, let lines):
      let answer = try await call([:])
      if isJSON, !isJSONLines { Output.json(answer) }
      var status = ExitStatus.done
      for (word, item) in zip(arguments.positional, answer[member]?.array ?? []) {
        if let failure = AdminFailure(item) {
          Output.complain("\(noun) '\(word)': \(failure)".printable)
          status = ExitStatus.failed
        } else if !isJSON {
          Self.print(lines(word, item))
        } else if isJSONLines {
          Output.json(item)
        }
      }
      return status
    }
  }

  private static func print(_ lines: [String]) {
    for line in lines { Output.line(line.printable) }
  }

  /// Returns the lines of a value's properties, each with its title. A property without a text is
  /// left out.
  static func properties(_ rows: [(title: String, text: String?)]) -> [String] {
    rows.compactMap { row in row.text.map { "  \(row.title.padding(to: 12))\($0)" } }
  }
}

extension JSONValue {
  func text(_ member: String) -> String { self[member]?.string ?? "" }

  func time(_ member: String) -> String? { self[member]?.timeText }
}
