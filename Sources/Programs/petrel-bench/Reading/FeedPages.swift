import Foundation

/// One reading of a zone's change feed from its beginning, page by page with one request at a time.
struct FeedPages {
  private(set) var pages: [Double] = []
  private(set) var found = 0
  private(set) var seconds = 0.0

  /// Reads the feed.
  ///
  /// - Parameter post: Sends `changes/zone` with a body, and returns the answer.
  init(ofZone zone: String, counting mark: [UInt8], post: (String) throws -> [UInt8]) throws {
    var token: String?
    let start = monotonicSeconds()
    while true {
      let since = token.map { #","syncToken":"\#($0)""# } ?? ""
      let begin = monotonicSeconds()
      let answer = try post(#"{"zones":[{"zoneID":\#(zone)\#(since)}]}"#)
      pages.append(monotonicSeconds() - begin)
      found += answer.places(of: mark)
      // The token and `moreComing` are at the end of the answer, so the client need not parse the
      // whole answer.
      let tail = String(decoding: answer.suffix(2_000), as: UTF8.self)
      guard tail.contains(#""moreComing":true"#) else { break }
      token = tail.components(separatedBy: #""syncToken":""#).dropFirst().first
        .flatMap { $0.split(separator: "\"").first.map(String.init) }
    }
    seconds = monotonicSeconds() - start
  }

  var rate: Double { Double(found) / seconds }
}
