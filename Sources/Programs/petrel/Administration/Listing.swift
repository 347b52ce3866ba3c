import CommandInterface
import JSONCoding

/// The output of a list that the admin API returns in pages.
struct Listing {
  static let limitOption = Arguments.Option(
    "limit", "NUMBER", "the greatest number of rows, or 'all' (default 50)")

  private static let pageSize = 200

  /// The name of the rows in messages. It is also the member with the rows in the answer and in the
  /// JSON output.
  var name: String
  var columns: [Table.Column]
  var emptiness: String
  /// The member of an answer with the argument `continuation` for the next page.
  var marker = "continuation"

  /// Reads the pages up to `--limit` rows, and prints them as a table. With `--json`, the output is
  /// one JSON object. With `--json --limit all`, each row is a line of JSON, because one object
  /// with all rows could need much memory.
  ///
  /// - Parameter answer: Reads the page that the arguments `limit` and `continuation` select.
  func show(
    _ arguments: Arguments, _ answer: ([String: JSONValue]) async throws -> JSONValue
  ) async throws {
    let limit = try Self.limit(arguments)
    let isJSON = arguments.flag("json")
    var table = Table(columns)
    var gathered: [JSONValue] = []
    var count = 0
    var next: JSONValue?
    repeat {
      var page: [String: JSONValue] = [
        "limit": .int(Int64(min(Self.pageSize, (limit ?? .max) - count)))
      ]
      page["continuation"] = next
      let answer = try await answer(page)
      let rows = answer[name]?.array ?? []
      count += rows.count
      next = answer[marker]
      if !isJSON {
        for line in table.lines(rows) { Output.line(line) }
      } else if limit == nil {
        for row in rows { Output.line(row.text) }
      } else {
        gathered += rows
      }
    } while next != nil && count < limit ?? .max
    if isJSON, limit != nil {
      let object: JSONValue = [name: .array(gathered), "moreComing": .bool(next != nil)]
      Output.line(object.text)
    }
    guard !isJSON else { return }
    if count == 0 { Output.line(emptiness) }
    if next != nil { Output.complain("there are more \(name); show them with --limit all") }
  }

  /// Returns the value of `--limit`, 50 by default; `nil` for `all`.
  ///
  /// - Throws: `UsageError` for another text than `all` or a whole number above 0.
  private static func limit(_ arguments: Arguments) throws -> Int? {
    guard let text = arguments.string("limit") else { return 50 }
    if text == "all" { return nil }
    guard let limit = Int(text), limit > 0 else {
      throw UsageError("--limit must be a whole number above 0, or 'all', not '\(text)'")
    }
    return limit
  }
}
