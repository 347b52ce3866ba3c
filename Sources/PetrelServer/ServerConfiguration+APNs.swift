import HTTP2Transport

extension ServerConfiguration.APNs {
  /// Reads the key `apns` of a container.
  init(_ reader: ConfigurationReader) throws(ConfigurationError) {
    try reader.allow([
      "topic", "teamID", "keyID", "keyFile", "certificateFile", "certificateKeyFile", "host",
      "port", "authorityFile", "proxy", "maximumConnections",
    ])
    self.init(
      topic: try reader.required("topic"), credential: try Credential(reader),
      host: try reader.string("host"), port: try reader.int("port", in: 1...65_535),
      authorityFile: try reader.string("authorityFile").map { reader.file($0) })
    maximumConnections = try reader.int("maximumConnections", in: 1...100) ?? maximumConnections
    proxy = try reader.string("proxy")
    do throws(HTTP2Error) {
      _ = try proxy.map { proxy throws(HTTP2Error) in try HTTPProxy(parsing: proxy) }
    } catch {
      throw reader.mistake("'proxy': \(error.reason)")
    }
  }
}

extension ServerConfiguration.APNs.Credential {
  /// Either a key or a certificate, never both.
  fileprivate init(_ reader: ConfigurationReader) throws(ConfigurationError) {
    guard let certificate = try reader.string("certificateFile") else {
      if reader.json["certificateKeyFile"] != nil {
        throw reader.mistake("'certificateKeyFile' needs 'certificateFile' beside it")
      }
      guard reader.json["keyFile"] != nil else {
        throw reader.mistake("'keyFile' is missing (or 'certificateFile', for a certificate)")
      }
      self = .key(
        file: reader.file(try reader.required("keyFile")), keyID: try reader.required("keyID"),
        teamID: try reader.required("teamID"))
      return
    }
    for key in ["keyFile", "keyID", "teamID"] where reader.json[key] != nil {
      throw reader.mistake(
        "'\(key)' and 'certificateFile' exclude each other: APNs takes a key or a certificate")
    }
    self = .certificate(
      file: reader.file(certificate),
      keyFile: reader.file(try reader.string("certificateKeyFile") ?? certificate))
  }
}
