import COpenSSL

/// An OpenSSL stream (BIO) in memory, for the functions that read and write PEM.
struct MemoryStream: ~Copyable {
  let pointer: OpaquePointer

  init() throws(CryptographyError) {
    guard let pointer = BIO_new(BIO_s_mem()) else {
      throw .openSSL(.libraryFailure, "no memory for a stream")
    }
    self.pointer = pointer
  }

  init(containing text: String) throws(CryptographyError) {
    try self.init()
    var text = text
    text.withUTF8 { bytes in
      _ = BIO_write(pointer, bytes.baseAddress, Int32(clamping: bytes.count))
    }
  }

  deinit {
    BIO_free(pointer)
  }

  /// The part of the written text that was not yet read.
  var text: String {
    var start: UnsafeMutablePointer<CChar>?
    let count = petrel_bio_memory(pointer, &start)
    guard let start, count > 0 else { return "" }
    return start.withMemoryRebound(to: UInt8.self, capacity: count) { bytes in
      String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
    }
  }
}
