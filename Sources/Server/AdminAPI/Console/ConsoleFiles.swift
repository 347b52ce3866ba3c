import CConsoleFiles
import Cryptography
import Foundation
import HTTPService

/// The files of the console. The module `CConsoleFiles` contains their bytes, so they are part of
/// the program.
struct ConsoleFiles: Sendable {
  /// A file with its media type and its entity tag.
  private struct File: Sendable {
    var type: String
    var data: Data
    var tag: String
  }

  private let files: [String: File]

  init() {
    var files: [String: File] = [:]
    var number = 0
    while let file = console_file_at(number)?.pointee {
      number += 1
      let data = Data(bytes: file.bytes, count: file.size)
      files[String(cString: file.name)] = File(
        type: String(cString: file.type), data: data,
        tag: "\"" + SHA256.hash(data).prefix(12).hexadecimal + "\"")
    }
    self.files = files
  }

  /// Returns the file as an answer; nil if there is no file of this name.
  ///
  /// The answer is 304 without content if the request's `If-None-Match` contains the file's tag
  /// (RFC 9110, section 13.1.2).
  func response(named name: String, to request: HTTPRequest) -> HTTPResponse? {
    guard let file = files[name] else { return nil }
    let known = (request.header("If-None-Match") ?? "").split(separator: ",").map {
      $0.trimmingCharacters(in: .whitespaces)
    }
    let headers = [("ETag", file.tag), ("Cache-Control", "no-cache")]
    if known.contains(where: { $0 == file.tag || $0 == "W/" + file.tag }) {
      return HTTPResponse(status: 304, headers: headers)
    }
    return HTTPResponse(
      headers: [("Content-Type", file.type)] + headers, body: .data(file.data))
  }
}
