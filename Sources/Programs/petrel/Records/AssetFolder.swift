import CommandInterface
import Cryptography
import Foundation

/// A folder with the files of asset fields, for an export or an import of records. The name of each
/// file is its SHA-256 in hexadecimal.
struct AssetFolder: Sendable {
  private let directory: String

  init(directory: String) {
    self.directory = directory
  }

  /// Returns the handling of asset fields for the options `--assets` and `--without-assets`. The
  /// folder is `nil` without `--assets`. Without both options, asset fields are refused.
  ///
  /// - Throws: `UsageError` if both options are given.
  static func choice(
    _ arguments: Arguments
  ) throws -> (assets: PortableRecord.Assets, folder: AssetFolder?) {
    guard let directory = arguments.string("assets") else {
      return (arguments.flag("without-assets") ? .leftOut : .refused, nil)
    }
    guard !arguments.flag("without-assets") else {
      throw UsageError("takes --assets or --without-assets, not both")
    }
    return (.kept, AssetFolder(directory: directory))
  }

  /// Downloads a file, checks its SHA-256 and saves it. Does nothing if the folder already has a
  /// file with this SHA-256 as its name.
  ///
  /// - Throws: ``AdminFailure`` if the file has no URL, the download fails, or the downloaded bytes
  ///   have another SHA-256.
  func save(_ file: PortableRecord.File, from access: any AdminAccess) async throws {
    let path = directory + "/" + file.checksum
    guard !FileManager.default.fileExists(atPath: path) else { return }
    guard let url = file.url else {
      throw AdminFailure("the server sent no URL for the file in the field '\(file.fieldName)'")
    }
    let (status, data) = try await access.transfer(.download(url: url))
    guard status == 200 else {
      throw AdminFailure(
        "the file in the field '\(file.fieldName)' cannot be fetched: status \(status)")
    }
    guard SHA256.hash(data).hexadecimalText == file.checksum else {
      throw AdminFailure(
        "the file in the field '\(file.fieldName)' is not the one that was saved: its SHA-256 is "
          + "not \(file.checksum)")
    }
    try FileManager.default.createDirectory(
      atPath: directory, withIntermediateDirectories: true)
    try data.write(to: URL(fileURLWithPath: path), options: .atomic)
  }

  /// Throws an ``AdminFailure`` if the folder lacks the file or its contents have another SHA-256.
  func data(of file: PortableRecord.File) throws -> Data {
    let path = directory + "/" + file.checksum
    guard let data = FileManager.default.contents(atPath: path) else {
      throw AdminFailure(
        "the file \(path), for the field '\(file.fieldName)', cannot be read")
    }
    guard SHA256.hash(data).hexadecimalText == file.checksum else {
      throw AdminFailure(
        "the file \(path), for the field '\(file.fieldName)', does not have the SHA-256 in its name"
      )
    }
    return data
  }
}

extension [UInt8] {
  fileprivate var hexadecimalText: String {
    map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }
}
