import CommandInterface
import JSONCoding

/// The output of a list of the admin API, which the API returns in pages.
struct Listing {
  /// The option that limits the rows.
  static let limitOption = Arguments.Option(
    "limit", "NUMBER", "the greatest number of rows, or 'all' (default 50)")

  /// The rows of a page, at most.
  private static let pageSize = 200

  /// The name of the rows for messages, and the member of the JSON object that contains them.
  var name: String
  /// The columns of the table.
  var columns: [Table.Column]
  /// The line to print if there are no rows.
  var emptiness: String
  /// Reads a page.
  ///
  /// - Parameters:
  ///   - limit: The most rows of the page.
  ///   - continuation: The `next` of the page before; `nil` for the first page.
  /// - Returns: The rows, and the continuation for the next page; `nil` at the end.
  var page:
    (_ limit: Int, _ continuation: String?) async throws -> (
      rows: [JSONValue], next: String?
    )

  /// Reads the pages and prints them as a table, or with `--json` as one JSON object. With `--json
  /// --limit all`, each row is a line of JSON, so that the memory stays small.
  func show(_ arguments: Arguments) async throws {
    let limit = try Self.limit(arguments)
    let isJSON = arguments.flag("json")
    var table = Table(columns)
    var gathered: [JSONValue] = []
    var count = 0
    var next: String?
    repeat {
      let size = min(Self.pageSize, (limit ?? .max) - count)
      let answer = try await page(size, next)
      count += answer.rows.count
      next = answer.next
      if !isJSON {
        table.print(answer.rows)
      } else if limit == nil {
        for row in answer.rows { Output.line(row.text) }
      } else {
        gathered += answer.rows
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
  private static func limit(_ arguments: Arguments) throws -> Int? {
    guard let text = arguments.string("limit") else { return 50 }
    if text == "all" { return nil }
    guard let limit = Int(text), limit > 0 else {
      throw UsageError("--limit must be a whole number above 0, or 'all', not '\(text)'")
    }
    return limit
  }
}

extension Listing {
  /// Creates a list that the API returns for `GET`, with the argument `continuation`.
  init(
    _ name: String, of path: String, _ query: [String: String?], by access: any AdminAccess,
    emptiness: String, _ columns: [Table.Column]
  ) {
    self.init(name: name, columns: columns, emptiness: emptiness) { limit, continuation in
      var query = query
      query["limit"] = String(limit)
      query["continuation"] = continuation
      let answer = try await access.get(path, query)
      return (answer[name]?.array ?? [], answer["continuation"]?.string)
    }
  }
}
