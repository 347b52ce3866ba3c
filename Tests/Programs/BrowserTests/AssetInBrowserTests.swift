import JSONCoding
import Testing

/// Assets are protected from being taken for pages; apps still show and read them.
@Suite(
  .serialized,
  .enabled(if: WebDriver.isInstalled, "chromium and chromium-driver are not installed"))
struct AssetInBrowserTests {
  @Test("an app of another origin uploads a picture, shows it, draws it and reads it")
  func picture() async throws {
    try await BrowserCloud.run { cloud in
      try await cloud.open(apiToken: try await cloud.addAPIToken())
      _ = try await cloud.browser.run("return app.setUpAuth();")
      let window = try await cloud.openSignIn()
      try await cloud.typePassword()
      try await cloud.comeBack(to: window)
      let outcome = try await cloud.browser.run(
        """
        return (async () => {
          const canvas = document.createElement('canvas');
          canvas.width = 3;
          canvas.height = 2;
          const file = await new Promise((done) => canvas.toBlob(done));
          const upload = await app.call('database', 'private/assets/upload', {
            tokens: [{ recordName: 'p', recordType: 'Note', fieldName: 'photo' }]
          });
          const sent = await fetch(upload.json.tokens[0].url, { method: 'POST', body: file });
          const asset = (await sent.json()).singleFile;
          const saved = await app.call('database', 'private/records/modify', {
            operations: [{
              operationType: 'create',
              record: {
                recordName: 'p', recordType: 'Note', fields: { photo: { value: asset } }
              }
            }]
          });
          const url = saved.json.records[0].fields.photo.value.downloadURL;
          const sizes = [];
          for (const crossOrigin of [null, 'anonymous']) {
            const image = new Image();
            image.crossOrigin = crossOrigin;
            image.src = url;
            await image.decode();
            sizes.push([image.naturalWidth, image.naturalHeight]);
            if (crossOrigin) {
              canvas.getContext('2d').drawImage(image, 0, 0);
              canvas.toDataURL();
            }
          }
          const read = await (await fetch(url)).blob();
          return { sizes: sizes, isWhole: read.size === file.size, type: read.type };
        })();
        """)
      #expect(outcome["sizes"] == [[3, 2], [3, 2]], "\(outcome.text)")
      #expect(outcome["isWhole"] == true && outcome["type"] == "application/octet-stream")
    }
  }
}
