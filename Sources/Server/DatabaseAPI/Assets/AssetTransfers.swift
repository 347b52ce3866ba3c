import CloudKitModel
import Configuration
import Cryptography
import Foundation
import Glibc
import HTTPService
import Storage
import StoreModel
import WebServices

/// Takes and gives the bytes of assets, at the URLs that ``AssetLinks`` makes.
package struct AssetTransfers: Sendable {
  /// Bytes that are read from the store at a time.
  private static let pieceSize = 128 << 10

  let assets: any AssetRegistry
  let databases: any DatabaseReading
  let links: AssetLinks
  let clock: @Sendable () -> Timestamp
  let limits: ServerConfiguration.Limits
  private let verified = VerifiedAssets()

  package init(
    assets: any AssetRegistry, databases: any DatabaseReading, links: AssetLinks,
    clock: @escaping @Sendable () -> Timestamp,
    limits: ServerConfiguration.Limits
  ) {
    self.assets = assets
    self.databases = databases
    self.links = links
    self.clock = clock
    self.limits = limits
  }

  package func respond(to request: HTTPRequest) async throws -> HTTPResponse {
    let target = try await links.target(
      ofPath: request.path, expires: request.query("expires"),
      signature: request.query("signature"))
    switch (target, request.method) {
    case (.upload(let database, let secret), "POST"):
      return try await upload(request, to: database, secret: secret)
    case (.download(let database, let checksum), "GET"),
      (.download(let database, let checksum), "HEAD"):
      return try await download(checksum, from: database, range: request.header("Range"))
    case (.upload, let method):
      throw WrongMethod(
        allowed: ["POST"], reason: "an upload URL takes POST, not \(method)")
    case (.download, let method):
      throw WrongMethod(
        allowed: ["GET", "HEAD"], reason: "a download URL takes GET or HEAD, not \(method)")
    }
  }

  // MARK: Uploads

  private func upload(
    _ request: HTTPRequest, to database: DatabaseID, secret: String
  ) async throws -> HTTPResponse {
    guard
      let upload = try await assets.assetUpload(
        withTokenHash: SHA256.hash(secret.utf8), in: database)
    else { throw AssetLinks.unknown }
    // The time counts that the upload began at, however long it took.
    let began = clock().advanced(bySeconds: -(request.bodyFile?.age ?? 0))
    guard began < upload.expires else {
      throw ServiceError(
        .badRequest,
        "the upload URL for field '\(upload.fieldName)' has expired: it is valid for "
          + "\(ServiceLimits.uploadURLLifetime / 60) minutes; ask for another with assets/upload")
    }
    let form = try MultipartForm(contentType: request.header("Content-Type"))
    let arrived = try await Self.arrived(request, in: form)
    defer { arrived.cleanUp() }
    let size = arrived.size
    guard size <= ServiceLimits.assetSize else {
      throw ServiceError(
        .badRequest,
        "the asset for field '\(upload.fieldName)' has \(size) bytes; the limit is "
          + "\(ServiceLimits.assetSize)", limit: ServiceLimits.assetSize)
    }
    let scope = try await databases.address(of: database).scope
    let quota = limits.bytes(of: scope)
    if let quota, let usage = try await databases.usage(of: database) {
      try usage.check(adding: size, to: quota, for: upload.fieldName)
    }
    let file = AssetFile(checksum: arrived.hash.hexadecimal, size: Int64(size))
    try await assets.finishAssetUpload(
      withReceipt: upload.receipt, in: database, bytes: arrived.bytes, file: file,
      check: { usage in
        // Others may have come meanwhile.
        guard let quota else { return }
        try usage.check(adding: 0, to: quota, for: upload.fieldName)
      })
    let asset = Asset(
      fileChecksum: file.checksum, size: file.size, receipt: upload.receipt
    ).complete
    return HTTPResponse(json: UploadedAssetResponse(asset: asset).body)
  }

  /// The bytes of an asset as they came.
  private struct Arrived {
    var bytes: AssetBytes
    var size: Int
    var hash: [UInt8]
    /// A file that was made for them.
    var extracted: String?

    func cleanUp() {
      if let extracted { unlink(extracted) }
    }
  }

  /// - Parameter form: the form that the file stands in; nil when the body is the file.
  private static func arrived(
    _ request: HTTPRequest, in form: MultipartForm?
  ) async throws -> Arrived {
    switch (request.bodyFile, form) {
    case (nil, nil):
      return Arrived(
        bytes: .data(request.body), size: request.body.count, hash: SHA256.hash(request.body))
    case (nil, .some(let form)):
      let content = request.body.subdata(in: try form.contentRange(of: request.body))
      return Arrived(bytes: .data(content), size: content.count, hash: SHA256.hash(content))
    case (.some(let file), nil):
      return Arrived(
        bytes: .file(path: file.path), size: file.size,
        hash: try await hash(ofFileAt: file.path))
    case (.some(let file), .some(let form)):
      return try await extract(form, from: file)
    }
  }

  /// Copies the file out of a form.
  private static func extract(
    _ form: MultipartForm, from file: HTTPBodyFile
  ) async throws -> Arrived {
    try await withCheckedThrowingContinuation { continuation in
      hashing.async {
        continuation.resume(
          with: Result {
            // Foundation on Linux keeps 4 KiB for good each time it reads an empty file.
            let body =
              file.size == 0
              ? Data()
              : try Data(contentsOf: URL(fileURLWithPath: file.path), options: .alwaysMapped)
            let content = body[try form.contentRange(of: body)]
            let path = file.path + "-content"
            try AssetFiles.write(content, to: path)
            return Arrived(
              bytes: .file(path: path), size: content.count, hash: SHA256.hash(content),
              extracted: path)
          })
      }
    }
  }

  private static let hashing = DispatchQueue(label: "petrel.asset-hashing", attributes: .concurrent)

  private static func hash(ofFileAt path: String) async throws -> [UInt8] {
    try await withCheckedThrowingContinuation { continuation in
      hashing.async {
        continuation.resume(
          with: Result {
            let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
            // The file was read: a failure to close loses nothing.
            defer { try? file.close() }
            let hasher = SHA256Hasher()
            while let piece = try file.read(upToCount: pieceSize), !piece.isEmpty {
              hasher.update(piece)
            }
            return hasher.finish()
          })
      }
    }
  }

  // MARK: Downloads

  /// Users upload what they like, and this is the origin of the console and of the sign-in page: no
  /// browser takes an asset for a page of it. Pages of any origin still show assets as pictures, sound
  /// and film, and read them (`<img>`, `<video>`, `fetch`), also those that ask for it to be said
  /// (`Cross-Origin-Embedder-Policy`).
  private static let protection = [
    ("X-Content-Type-Options", "nosniff"),
    ("Content-Security-Policy", "sandbox; default-src 'none'"),
    ("Content-Disposition", "attachment"), ("Cross-Origin-Resource-Policy", "cross-origin"),
  ]

  private func download(
    _ checksum: String, from database: DatabaseID, range: String?
  ) async throws -> HTTPResponse {
    guard let name = try await assets.assetName(forChecksum: checksum, in: database),
      let reader = try await assets.files.open(name)
    else { throw ServiceError(.notFound, "the asset is not there any more") }
    var response = HTTPResponse(headers: [
      ("Content-Type", "application/octet-stream"), ("ETag", "\"\(checksum)\""),
      ("Accept-Ranges", "bytes"), ("Cache-Control", "private, immutable"),
    ])
    response.headers += Self.protection
    var part = 0..<reader.size
    switch range.flatMap({ ByteRange.parse($0, size: reader.size) }) {
    case nil: break
    case .some(.part(let requested)):
      part = requested
      response.status = 206
      response.headers.append(
        ("Content-Range", "bytes \(part.lowerBound)-\(part.upperBound - 1)/\(reader.size)"))
    case .some(.unsatisfiable):
      response.status = 416
      response.headers.append(("Content-Range", "bytes */\(reader.size)"))
      return response
    }
    let wanted = part
    let isWhole = wanted == 0..<reader.size
    if !isWhole || reader.size <= Self.pieceSize {
      try await verified.verify(name, checksum: checksum, reader)
    }
    response.body = .streamOfLength(wanted.count) { writer in
      // The last piece goes out when all of them match the checksum: of a damaged file the client does
      // not get as much as it was promised.
      let hasher = SHA256Hasher()
      var offset = wanted.lowerBound
      while offset < wanted.upperBound {
        let count = min(Self.pieceSize, Int(wanted.upperBound - offset))
        let piece = try await reader.read(at: offset, count: count)
        guard piece.count == count else {
          throw StoreError(.assetFailed, "the asset \(checksum) is shorter than it was")
        }
        offset += Int64(count)
        if isWhole {
          hasher.update(piece)
          guard offset < wanted.upperBound || hasher.finish().hexadecimal == checksum else {
            throw VerifiedAssets.damage(of: name, checksum)
          }
        }
        try await writer.write(piece)
      }
    }
    return response
  }
}
