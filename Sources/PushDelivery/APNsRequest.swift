import HTTP2Transport

extension HTTP2Request {
  /// The request that asks APNs to deliver a push.
  ///
  /// What is the same for many pushes may be remembered by the compression of header fields; what
  /// changes with each push is not, for it would only push the rest out of the table.
  ///
  /// - Parameter authorization: the value of that field: `bearer` and the provider token; nil where
  ///   the connection has shown a certificate.
  init(_ push: Push, authorization: String?) {
    self.init(method: "POST", path: push.path, body: push.payload.bytes)
    if let authorization { headers.append("authorization", authorization) }
    for (name, value) in push.headers {
      headers.append(name, value, indexed: name != "apns-id" && name != "apns-expiration")
    }
  }
}
