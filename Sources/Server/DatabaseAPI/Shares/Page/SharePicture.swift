import CloudKitModel
import Foundation

/// The thumbnail of a share, if it is a picture that a page may show.
struct SharePicture: Sendable, Hashable {
  /// The most bytes of a picture.
  static let sizeLimit = 256 * 1024

  /// The picture as a `data:` URL.
  var url: String

  /// Takes the thumbnail from the record of a share. The result is nil without a thumbnail of up to
  /// ``sizeLimit`` bytes whose first bytes are those of a PNG or a JPEG file.
  init?(of share: Record) {
    guard case .bytes(let data) = share.fields["cloudkit.thumbnailImageData"],
      data.count <= Self.sizeLimit,
      let format = Self.formats.first(where: { data.starts(with: $0.start) })
    else { return nil }
    url = "data:\(format.type);base64,\(data.base64EncodedString())"
  }

  /// The formats that a page shows: the media type, and the first bytes of a file.
  ///
  /// The bytes of a PNG file are its signature with the length and the type of the first chunk. The
  /// bytes of a JPEG file are the marker of its start and the first byte of the next marker.
  private static let formats: [(type: String, start: [UInt8])] = [
    (
      "image/png",
      [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 0x0D, 0x49, 0x48, 0x44, 0x52]
    ),
    ("image/jpeg", [0xFF, 0xD8, 0xFF]),
  ]
}
