import CloudKitModel
import Concurrency
import Configuration
import Cryptography
import Foundation
import Glibc
import HTTPService
import Storage
import StoreModel
import WebServices

/// The upload and download of the bytes of assets, at the URLs of ``AssetLinks``.
///
/// An upload has at most `ServiceLimits.assetSize` bytes, and must fit into the quota of the
/// database. A download is sent in pieces, and its bytes are checked against the asset's SHA-256
/// hash, the checksum.
package struct AssetTransfers: Sendable {
  /// Bytes that are read at a time: 128 KiB.
  private static let pieceSize = 128 << 10

  let assets: AssetService
  let databases: DatabaseService
  let links: AssetLinks
  let clock: @Sendable () -> Timestamp
  let limits: ServerConfiguration.Limits
  private let verified = VerifiedAssets()

  package init(
    assets: AssetService, databases: DatabaseService, links: AssetLinks,
    clock: @escaping @Sendable () -> Timestamp,
    limits: ServerConfiguration.Limits
  ) {
    self.assets = assets
    self.databases = databases
    self.links = links
    self.clock = clock
    self.limits = limits
  }

  /// The result of a request's head.
  enum Step: Sendable {
    /// The whole answer: the request needs no body.
    case answer(HTTPResponse)
    /// An upload whose bytes the server may receive.
    case upload(Upload)
  }

  /// An announced upload that has begun.
  struct Upload: Sendable {
    fileprivate var announced: AssetUpload
    fileprivate var database: DatabaseID
    /// The form that contains the file; nil if the body is the file.
    fileprivate var form: MultipartForm?

    /// The user who announced the upload.
    var userRecordName: String { announced.userRecordName }
  }

  /// Answers a request whose whole body is there; see ``begin(_:)`` and ``finish(_:with:)``.
  package func respond(to request: HTTPRequest) async throws -> HTTPResponse {
    switch try await begin(request) {
    case .answer(let response): response
    case .upload(let upload): try await finish(upload, with: request)
    }
  }

  /// Processes the head of a request whose path begins with ``AssetLinks/prefix``.
  ///
  /// - Throws: `NOT_FOUND`, `ACCESS_DENIED`, `BAD_REQUEST` or `QUOTA_EXCEEDED`; ``WrongMethod`` for
  ///   a method that the URL does not accept; `StoreError` if the store fails.
  func begin(_ head: HTTPRequest) async throws -> Step {
    let target = try await links.target(
      ofPath: head.path, sight: FileSight(owner: head.query("owner"), share: head.query("share")),
      expires: head.query("expires"), signature: head.query("signature"))
    switch (target, head.method) {
    case (.upload(let database, let secret), "POST"):
      return .upload(try await beginUpload(head, to: database, secret: secret))
    case (.download(let file), "GET"), (.download(let file), "HEAD"):
      return .answer(try await download(file, range: head.header("Range")))
    case (.upload, let method):
      throw WrongMethod(
        allowed: ["POST"], reason: "an upload URL takes POST, not \(method)")
    case (.download, let method):
      throw WrongMethod(
        allowed: ["GET", "HEAD"], reason: "a download URL takes GET or HEAD, not \(method)")
    }
  }

  // MARK: Uploads

  /// Checks what the head of an upload says, before the server receives its bytes.
  ///
  /// The upload URL must be valid when the upload begins; the duration of the upload does not count.
  ///
  /// - Throws: `NOT_FOUND` for an unknown upload. `BAD_REQUEST` for an expired URL or a malformed
  ///   form. `ACCESS_DENIED` if the user may not write in the database any more. `QUOTA_EXCEEDED` if
  ///   the announced bytes do not fit into the quota of the database.
  private func beginUpload(
    _ head: HTTPRequest, to database: DatabaseID, secret: String
  ) async throws -> Upload {
    guard
      let announced = try await assets.assetUpload(
        withTokenHash: SHA256.hash(secret.utf8), in: database)
    else { throw AssetLinks.unknown }
    guard clock() < announced.expires else {
      throw ServiceError(
        .badRequest,
        "the upload URL for field '\(announced.fieldName)' has expired: it is valid for "
          + "\(ServiceLimits.uploadURLLifetime / 60) minutes; ask for another with assets/upload")
    }
    let upload = Upload(
      announced: announced, database: database,
      form: try MultipartForm(contentType: head.header("Content-Type")))
    // A form has more bytes than its file.
    let length = upload.form == nil ? head.header("Content-Length").flatMap { Int($0) } : nil
    try await checkQuota(of: upload, adding: min(length ?? 0, ServiceLimits.assetSize))
    return upload
  }

  /// Checks that a number of bytes fits into the quota of the database.
  ///
  /// - Returns: the check of a usage that contains the bytes already.
  @discardableResult
  private func checkQuota(
    of upload: Upload, adding size: Int
  ) async throws -> @Sendable (DatabaseUsage) throws -> Void {
    let address = try await databases.address(of: upload.database)
    guard let quota = limits.bytes(of: address.scope) else { return { _ in } }
    let isOwners = address.owner.map { $0 == upload.userRecordName } ?? true
    let field = upload.announced.fieldName
    if let usage = try await databases.usage(of: upload.database) {
      try usage.check(adding: size, to: quota, for: field, isOwners: isOwners)
    }
    return { usage in
      try usage.check(adding: 0, to: quota, for: field, isOwners: isOwners)
    }
  }

  /// Stores the bytes of an upload, and answers with the dictionary that the client saves in a
  /// record.
  ///
  /// The body is the file itself, or a form that contains it. The server answers only after the
  /// store has written the bytes durably.
  ///
  /// - Throws: `NOT_FOUND` if the upload does not exist any more. `BAD_REQUEST` for a malformed form,
  ///   or an asset that is too large. `ACCESS_DENIED` if the user has lost the right to write during
  ///   the upload. `QUOTA_EXCEEDED` if the asset does not fit into the quota of the database.
  func finish(_ upload: Upload, with request: HTTPRequest) async throws -> HTTPResponse {
    let arrived = try await Self.arrived(request, in: upload.form)
    defer { arrived.cleanUp() }
    let size = arrived.size
    let announced = upload.announced
    guard size <= ServiceLimits.assetSize else {
      throw ServiceError(
        .badRequest,
        "the asset for field '\(announced.fieldName)' has \(size) bytes; the limit is "
          + "\(ServiceLimits.assetSize)", limit: ServiceLimits.assetSize)
    }
    _ = try await assets.assetUpload(withTokenHash: announced.tokenHash, in: upload.database)
    // Other uploads may finish before the check in the transaction.
    let check = try await checkQuota(of: upload, adding: size)
    let file = AssetFile(checksum: arrived.hash.hexadecimal, size: Int64(size))
    try await assets.finishAssetUpload(
      withReceipt: announced.receipt, in: upload.database, bytes: arrived.bytes, file: file,
      check: check)
    let asset = Asset(
      fileChecksum: file.checksum, size: file.size, receipt: announced.receipt
    ).complete
    return HTTPResponse(json: UploadedAssetResponse(asset: asset).body)
  }

  /// The bytes of an uploaded asset.
  private struct Arrived {
    /// The bytes in memory or in a file.
    var bytes: AssetBytes
    var size: Int
    /// The SHA-256 hash of the bytes.
    var hash: [UInt8]
    /// The file into which ``extract(_:from:)`` copied the bytes, and which must be deleted.
    var extracted: String?

    func cleanUp() {
      if let extracted { unlink(extracted) }
    }
  }

  /// Finds and hashes the bytes of an upload. The form is nil if the body is the file.
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

  /// Copies the file out of a form into a file of its own, and hashes it, on the queue ``hashing``.
  private static func extract(
    _ form: MultipartForm, from file: HTTPBodyFile
  ) async throws -> Arrived {
    try await hashing.run {
      // Foundation on Linux leaks 4 KiB each time it reads an empty file.
      let body =
        file.size == 0
        ? Data()
        : try Data(contentsOf: URL(fileURLWithPath: file.path), options: .alwaysMapped)
      let content = body[try form.contentRange(of: body)]
      let path = file.path + "-content"
      try AssetFiles.write(content, to: path)
      return Arrived(
        bytes: .file(path: path), size: content.count, hash: SHA256.hash(content), extracted: path)
    }
  }

  /// The queue for work that blocks on files, so that no thread of Swift's concurrency waits for
  /// the disk.
  private static let hashing = DispatchQueue(label: "petrel.asset-hashing", attributes: .concurrent)

  /// Returns the SHA-256 hash of a file. The queue ``hashing`` reads the file in pieces.
  private static func hash(ofFileAt path: String) async throws -> [UInt8] {
    try await hashing.run {
      let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
      // The file was only read, so a failure to close it loses nothing.
      defer { try? file.close() }
      let hasher = SHA256Hasher()
      while let piece = try file.read(upToCount: pieceSize), !piece.isEmpty {
        hasher.update(piece)
      }
      return hasher.finish()
    }
  }

  // MARK: Downloads

  /// The header fields that forbid a browser to show an asset as a page of this server.
  ///
  /// Users upload any content, and the console and the sign-in page have the same origin as the
  /// assets. With these fields, a script in an asset cannot act with the rights of that origin.
  ///
  /// Pages of any origin can still show assets as pictures, sound and film, and read them (`<img>`,
  /// `<video>`, `fetch`). `Cross-Origin-Resource-Policy` allows this also to pages with
  /// `Cross-Origin-Embedder-Policy`, which load only files that allow it.
  private static let protection = [
    ("X-Content-Type-Options", "nosniff"),
    ("Content-Security-Policy", "sandbox; default-src 'none'"),
    ("Content-Disposition", "attachment"), ("Cross-Origin-Resource-Policy", "cross-origin"),
  ]

  /// Streams an asset, or the part of it that the header field `Range` names.
  ///
  /// A part of an asset, or an asset of at most ``pieceSize`` bytes, is sent only after a check of
  /// the whole file (``VerifiedAssets``). A larger asset that is requested as a whole is checked
  /// while it is sent.
  ///
  /// - Throws: `NOT_FOUND` if the database does not have the asset any more; `StoreError` with the
  ///   code `assetFailed` for a damaged file.
  private func download(
    _ file: AssetLinks.File, range: String?
  ) async throws -> HTTPResponse {
    let checksum = file.checksum
    guard
      let name = try await assets.assetName(
        forChecksum: checksum, seenBy: file.sight, in: file.database),
      let reader = try await assets.files.open(name)
    else { throw ServiceError(.notFound, "the asset does not exist any more") }
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
      // The last piece is sent only if the whole file matches the checksum. If the file is damaged,
      // the client therefore gets fewer bytes than the answer announced, and notices the failure.
      let hasher = SHA256Hasher()
      var offset = wanted.lowerBound
      while offset < wanted.upperBound {
        let count = min(Self.pieceSize, Int(wanted.upperBound - offset))
        let piece = try await reader.read(at: offset, count: count)
        guard piece.count == count else {
          throw StoreError(.assetFailed, "the file of the asset \(checksum) became shorter")
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
