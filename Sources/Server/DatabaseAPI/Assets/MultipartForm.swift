import Foundation
import Glibc
import WebServices

/// A body of type `multipart/form-data` (RFC 7578) with one file in it, as OpenCloudKit sends the
/// bytes of an asset.
struct MultipartForm: Equatable {
  /// What stands between the parts, with its leading hyphens.
  private let delimiter: Data

  /// - Parameter contentType: the header of the body.
  /// - Returns: nil when the body is of another type, and so is the file itself.
  /// - Throws: `BAD_REQUEST` when the header names no boundary.
  init?(contentType: String?) throws(ServiceError) {
    let pieces = (contentType ?? "").split(separator: ";").map {
      $0.trimmingCharacters(in: .whitespaces)
    }
    guard pieces.first?.lowercased() == "multipart/form-data" else { return nil }
    let name = "boundary="
    let boundary = pieces.dropFirst().first { $0.lowercased().hasPrefix(name) }?
      .dropFirst(name.count).trimmingCharacters(in: CharacterSet(charactersIn: "\""))
    // RFC 2046, section 5.1.1: at most 70 characters.
    guard let boundary, (1...70).contains(boundary.utf8.count) else {
      throw Self.broken("names no boundary of 1 to 70 characters")
    }
    delimiter = Data("--\(boundary)".utf8)
  }

  /// Where in the body the first file's bytes are.
  ///
  /// - Throws: `BAD_REQUEST` when the body is not what its type says.
  /// - Complexity: linear in the size of the body.
  func contentRange(of body: Data) throws(ServiceError) -> Range<Int> {
    guard let start = Self.find(delimiter, in: body, from: 0),
      let head = Self.find(Data("\r\n\r\n".utf8), in: body, from: start + delimiter.count)
    else { throw Self.broken("has no part") }
    let begin = head + 4
    // The line break before a delimiter is the delimiter's; an empty file has that of its head.
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
