import Parley
import SwiftUI

/// A picture of a message, from the server's thumbnail: it has at most 1,280 pixels a side and one frame.
struct PictureView: View {
    let parley: ParleyClient
    let attachment: Attachment
    @State private var bytes: Data?

    var body: some View {
        Group {
            if let bytes, let picture = UIImage(data: bytes) {
                Image(uiImage: picture)
                    .resizable()
                    .scaledToFit()
            } else {
                ProgressView()
            }
        }
        .task { bytes = try? await parley.data(of: attachment.id, variant: .thumbnail) }
    }
}
