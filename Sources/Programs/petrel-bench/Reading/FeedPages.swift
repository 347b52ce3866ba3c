import Foundation

/// One reading of a zone's change feed from its beginning, page by page with one request at a time.
struct FeedPages {
  /// The seconds from each request to its answer.
  private(set) var pages: [Double] = []
  /// The number of places of the mark in the answers.
  private(set) var found = 0
  /// The length of the reading in seconds.
  private(set) var seconds = 0.0

  /// Reads the feed.
  ///
  /// - Parameters:
  ///   - zone: The JSON of the zone ID.
  ///   - mark: A text that occurs once in each record of an answer.
  ///   - post: Sends `changes/zone` with a body, and returns the answer.
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

  /// Records a second.
  var rate: Double { Double(found) / seconds }
}
