import CommandInterface
import JSONCoding

/// The output of a list that the admin API returns in pages.
struct Listing {
  /// The option that limits the rows.
  static let limitOption = Arguments.Option(
    "limit", "NUMBER", "the greatest number of rows, or 'all' (default 50)")

  /// The most rows of a page.
  private static let pageSize = 200

  /// The name of the rows in messages. It is also the member with the rows in the JSON output.
  var name: String
  /// The columns of the table.
  var columns: [Table.Column]
  /// The line to print if there are no rows.
  var emptiness: String
  /// Reads a page.
  ///
  /// - Parameters:
  ///   - limit: The most rows of the page.
  ///   - continuation: The value `next` of the previous page; `nil` for the first page.
  /// - Returns: The rows, and the continuation for the next page. The continuation is `nil` after
  ///   the last page.
  var page:
    (_ limit: Int, _ continuation: String?) async throws -> (
      rows: [JSONValue], next: String?
    )

  /// Reads the pages up to `--limit` rows, and prints them as a table. With `--json`, the output is
  /// one JSON object. With `--json --limit all`, each row is a line of JSON, because one object
  /// with all rows could need much memory.
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

extension Listing {
  /// Creates a list that the API returns for `GET` calls, with the arguments `limit` and
  /// `continuation`.
  ///
  /// - Parameters:
  ///   - name: The member with the rows, in the answer and in the JSON output.
  ///   - path: The path of the call.
  ///   - query: The other arguments of the call. Those with the value `nil` are left out.
  ///   - access: The access that makes the calls.
  ///   - emptiness: The line to print if there are no rows.
  ///   - columns: The columns of the table.
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
