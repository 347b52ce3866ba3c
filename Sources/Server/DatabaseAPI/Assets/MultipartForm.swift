import Foundation
import Glibc
import WebServices

/// A body of type `multipart/form-data` (RFC 7578) with one file in it. OpenCloudKit sends the
/// bytes of an asset in this form.
struct MultipartForm: Equatable {
  /// The text between two parts: the boundary with two hyphens before it.
  private let delimiter: Data

  /// Parses the header field `Content-Type`; nil for another type: the body is then the file
  /// itself.
  ///
  /// - Throws: `BAD_REQUEST` if the type names no boundary, the text between parts, of 1 to 70
  ///   bytes.
  init?(contentType: String?) throws(ServiceError) {
    let pieces = (contentType ?? "").split(separator: ";").map {
      $0.trimmingCharacters(in: .whitespaces)
    }
    guard pieces.first?.lowercased() == "multipart/form-data" else { return nil }
    let name = "boundary="
    let boundary = pieces.dropFirst().first { $0.lowercased().hasPrefix(name) }?
      .dropFirst(name.count).trimmingCharacters(in: CharacterSet(charactersIn: "\""))
    // RFC 2046, section 5.1.1: a boundary has at most 70 characters.
    guard let boundary, (1...70).contains(boundary.utf8.count) else {
      throw Self.broken("has no boundary of 1 to 70 characters")
    }
    delimiter = Data("--\(boundary)".utf8)
  }

  /// Returns the range of the first part, the file. Refuses a body without a complete part.
  func contentRange(of body: Data) throws(ServiceError) -> Range<Int> {
    guard let start = Self.find(delimiter, in: body, from: 0),
      let head = Self.find(Data("\r\n\r\n".utf8), in: body, from: start + delimiter.count)
    else { throw Self.broken("has no part") }
    let begin = head + 4
    // The line break before a boundary belongs to the boundary. In a part with an empty file, it
    // may be the line break that ends the part's head.
    guard let end = Self.find(Data("\r\n".utf8) + delimiter, in: body, from: begin - 2) else {
      throw Self.broken("does not end with its boundary")
    }
    return begin..<max(begin, end)
  }

  private static func find(_ pattern: Data, in body: Data, from start: Int) -> Int? {
    body.withUnsafeBytes { body -> Int? in
      pattern.withUnsafeBytes { pattern -> Int? in
        guard let base = body.baseAddress, let sought = pattern.baseAddress else { return nil }
        var place = start
        while place + pattern.count <= body.count {
          let rest = body.count - pattern.count + 1 - place
          guard let found = memchr(base + place, Int32(pattern[0]), rest) else { return nil }
          place = UnsafeRawPointer(found) - base
          if memcmp(found, sought, pattern.count) == 0 { return place }
          place += 1
        }
        return nil
      }
    }
  }

  private static func broken(_ what: String) -> ServiceError {
    ServiceError(.badRequest, "the body of type multipart/form-data \(what)")
  }
}
